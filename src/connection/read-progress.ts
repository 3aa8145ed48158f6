/** Parses a progress notification of a server; skips invalid members. */

import { isRecord } from '../lib/json.ts';
import type { Params, Progress } from './peer.ts';
import { serverMessage } from './rpc-error.ts';

export function readProgress(progress: number, { total, message, _meta }: Params): Progress {
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message: serverMessage(message) } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}
