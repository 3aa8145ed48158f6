/** The error for a name that no server has, in one wording for every surface. */

import { PlugboardError, type SurfaceText } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';

export interface UnknownServer {
  /** The names that are suggested if they are similar. */
  readonly known?: Iterable<string> | undefined;
  /** Set if the server was looked for in one scope only. */
  readonly scope?: string | undefined;
  /** Used if no known name is similar. */
  readonly hint?: string | SurfaceText | undefined;
}

export function unknownServer(name: string, { known = [], scope, hint }: UnknownServer = {}): PlugboardError {
  const near = nearest(name, known);
  const place = scope === undefined ? '' : ` in ${scope} scope`;
  return new PlugboardError('UNKNOWN_SERVER', `There is no server called ${JSON.stringify(name)}${place}`, {
    server: name,
    hint: near.length > 0 ? didYouMean(near) : hint,
  });
}

/** Suggests names, as a question. */
export function didYouMean(near: readonly string[]): string {
  return `Did you mean ${near.map((name) => JSON.stringify(name)).join(' or ')}?`;
}
