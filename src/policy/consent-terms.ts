/**
 * Describes what approval of a project's or plugin's server covers, what it replaces, and what is used while it waits,
 * with the same text on every surface.
 */

import { isRemote, type ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { isForeign, type Scope, supplierOf } from '../config/scopes.ts';
import { forSurface } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { trustInLibrary } from './admit.ts';

export function consentTerms(spec: ServerSpec): string {
  const { entry } = spec;
  if (isRemote(entry)) {
    const helper =
      entry.headersHelper === undefined ? '' : ' Code that its headersHelper runs may change as well.';
    return `Approval is for this entry. The server at its address may change without a new question.${helper}`;
  }
  const whose = supplierOf(spec) === 'plugin' ? "plugin's" : "project's";
  if (spec.lock?.kind === 'locked') {
    return `Approval is for this entry and its locked packages. The ${whose} own code that it loads may change without a new question.`;
  }
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

export interface Waiting {
  readonly scope: Scope;
  readonly file?: string;
  readonly status: 'untrusted';
  readonly error: { readonly code: 'UNTRUSTED'; readonly message: string; readonly hint: string };
}

/** Returns the waiting entry of this name; undefined if there is none. */
export function waitingFor(
  name: string,
  { servers, waiting, changed }: Pick<LoadedConfig, 'servers' | 'waiting' | 'changed'>,
): Waiting | undefined {
  const spec = waiting.find((each) => each.name === name);
  const used = servers.find((each) => each.name === name);
  if (spec === undefined || used === undefined) return undefined;
  const { scope, file } = spec;
  const why = changed?.has(spec) === true ? 'changed since you approved it' : 'has not been approved';
  return {
    scope,
    ...(file === undefined ? {} : { file }),
    status: 'untrusted',
    error: {
      code: 'UNTRUSTED',
      message: `${file ?? 'The project'} also defines ${name}, which ${why}; ${called(used)} is used`,
      hint: forSurface({
        commands: `Review it with: plugboard trust ${shellWord(name)}`,
        library: trustInLibrary(name),
      }),
    },
  };
}

/** Returns a server with its owner: "your own github", "the built-in workspace". */
export function called({ name, scope, file, builtIn }: ServerSpec): string {
  if (builtIn === true) return `the built-in ${name}`;
  if (isForeign({ scope })) return `the approved ${name} of ${file ?? scope}`;
  if (scope === 'managed') return `the managed ${name}`;
  return `your own ${name}`;
}
