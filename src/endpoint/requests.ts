/** Reads fields of a client's request before it is handled. */

import { isRecord } from '../lib/json.ts';
import type { Params } from './client-era.ts';
import { invalidParams } from './rpc-failure.ts';
import type { Work } from './work.ts';

export function toolOf(method: string, { name }: Params): string | undefined {
  return method === 'tools/call' && typeof name === 'string' ? name : undefined;
}

export function progressOf(
  params: Params,
  work: Pick<Work, 'notify'>,
): ((progress: object) => void) | undefined {
  const meta = params['_meta'];
  const progressToken = isRecord(meta) ? meta['progressToken'] : undefined;
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return undefined;
  return (progress) => work.notify('notifications/progress', { progressToken, ...progress });
}

/** Lists are not paginated, so no cursor was ever issued. */
export function firstPage({ cursor }: Params): void {
  if (cursor !== undefined) throw invalidParams('This cursor is not known here');
}
