/** Completes an argument of a prompt or a variable of a template while a person types. */

import type { Params } from '../endpoint/client-era.ts';
import { invalidParams } from '../endpoint/rpc-failure.ts';
import { isRecord } from '../lib/json.ts';
import type { Completer } from './definitions.ts';
import type { Context } from './handler-context.ts';
import type { Offer } from './offer.ts';

/** Limit of the protocol. */
const MAX_VALUES = 100;

export async function complete(offer: Offer, params: Params, context: Context): Promise<Params> {
  const { ref, argument, context: around } = params;
  if (!isRecord(ref) || !isRecord(argument)) {
    throw invalidParams('completion/complete needs ref and argument.');
  }
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw invalidParams('The argument to complete needs a name and a value.');
  }
  const completer = completerOf(offer, ref, name);
  const given = isRecord(around) && isRecord(around['arguments']) ? around['arguments'] : {};
  const known = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  const values = completer === undefined ? [] : await completer(value, known, context);
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function completerOf(offer: Offer, ref: Params, argument: string): Completer | undefined {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const prompt = offer.prompts.get(name);
    if (prompt === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}.`);
    return Object.hasOwn(prompt.arguments, argument) ? prompt.arguments[argument]?.complete : undefined;
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const offered = offer.templates.get(uri);
    if (offered === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}.`);
    const { complete: completers = {} } = offered.template;
    return Object.hasOwn(completers, argument) ? completers[argument] : undefined;
  }
  throw invalidParams('This ref is of no known type.');
}
