/** Describes what approval of a project's or plugin's server covers, with the same text on every surface. */

import { isRemote, type ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { isForeign, supplierOf } from '../config/scopes.ts';
import { called } from './waiting.ts';

export function consentTerms(spec: ServerSpec): string {
  const { entry } = spec;
  if (isRemote(entry)) {
    const helper =
      entry.headersHelper === undefined ? '' : ' Code that its headersHelper runs may change as well.';
    return `Approval is for this entry. The server at its address may change without a new question.${helper}`;
  }
  const whose = supplierOf(spec) === 'plugin' ? "plugin's" : "project's";
  return `Approval is for this entry. The ${whose} own code, and packages that it loads, may change without a new question.`;
}

/**
 * Returns the server that an entry replaces once it is approved.
 *
 * @example
 * replacedBy(spec, config); // 'your own github'
 */
export function replacedBy(spec: ServerSpec, config: LoadedConfig): string | undefined {
  const rivals = allSpecs(config).filter(({ name }) => name === spec.name);
  const weaker = rivals.slice(rivals.indexOf(spec) + 1);
  const next = weaker.find((each) => !isForeign(each));
  return next === undefined ? undefined : called(next);
}

/** Returns the inputs that an entry refers to, as in its file: they are shown and covered by the approval. */
export function shownInputs({ questions }: ServerSpec): Readonly<Record<string, unknown>> | undefined {
  if (questions === undefined || questions.length === 0) return undefined;
  const entries = questions.map(({ id, owner: _owner, fallback, ...rest }) => [
    id,
    { ...rest, ...(fallback === undefined ? {} : { default: fallback }) },
  ]);
  return Object.fromEntries(entries);
}
