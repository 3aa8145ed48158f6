/** The error that work rejects with, in the forms that tests compare. */

import { expect } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';

type Work = Promise<unknown> | (() => Promise<unknown>);

/** Fails the test if the work resolves, or rejects with anything but a PlugboardError. */
export async function failure(work: Work): Promise<PlugboardError> {
  const error = await (typeof work === 'function' ? work() : work).then(
    (value) => expect.fail(`it resolved with ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PlugboardError)) throw error;
  return error;
}

/** Everything that the error shows as JSON. */
export async function failureJson(work: Work): Promise<unknown> {
  return (await failure(work)).toJSON();
}

/** What a person reads of the error. */
export async function failureText(
  work: Work,
): Promise<[code: string, message: string, hint: string | undefined]> {
  const { code, message, hint } = await failure(work);
  return [code, message, hint];
}
