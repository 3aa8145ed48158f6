/** Describes entries that wait for approval while another entry of their name is used. */

import type { ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { isForeign, type Scope } from '../config/scopes.ts';
import { forSurface } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { trustInLibrary } from './admit.ts';

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
