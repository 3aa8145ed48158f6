/** Handles the error by which a legacy server requires a person to visit a URL before the call can work. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { Call, CallContext } from './call.ts';
import { settingsOf } from './settings.ts';

const MAX_ADDRESSES = 8;

/** Asks about each URL, like any other elicitation; resolves when all were accepted. */
export async function openFirst(context: CallContext, call: Call, error: PlugboardError): Promise<void> {
  const { tool } = settingsOf(call);
  const data = isRecord(error.detail.rpcData) ? error.detail.rpcData : {};
  const wanted = Array.isArray(data['elicitations']) ? data['elicitations'].filter(isRecord) : [];
  if (wanted.length === 0 || wanted.length > MAX_ADDRESSES) throw error;
  for (const params of wanted) {
    const answer = await context.questions
      .answer(call, 'elicitation/create', { ...params, mode: 'url' })
      .catch(() => undefined);
    if (isRecord(answer) && answer['action'] === 'accept') continue;
    throw new PlugboardError(
      'DENIED',
      `${tool.tool} on ${tool.server} needs an address to be visited first`,
      {
        server: tool.server,
        hint: 'The server gave the address; no one agreed to open it.',
        cause: error,
        detail: error.detail,
      },
    );
  }
}
