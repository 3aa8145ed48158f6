/** Extracts `_meta` of results other than tool results (see `accept-result.ts` for those). */

import { cleanMeta, passedMeta } from '../connection/handed-on.ts';
import { isRecord } from '../lib/json.ts';

/** Returns the `_meta` of a result without keys about the connection; `forModel`: without hidden text. */
export function metaOf(
  result: unknown,
  forModel: boolean,
): { readonly _meta?: Readonly<Record<string, unknown>> } {
  const given = isRecord(result) ? result['_meta'] : undefined;
  if (forModel) return cleanMeta(given);
  const meta = passedMeta(given);
  return meta === undefined ? {} : { _meta: meta };
}
