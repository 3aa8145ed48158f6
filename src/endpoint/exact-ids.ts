/**
 * Ids that a JSON number of JavaScript cannot hold, 2^53 + 1 for example: clients get them back digit by digit.
 *
 * Inside, such an id is a text with a mark before its digits, so that it is compared and kept like every other id. It
 * becomes digits again when a message is written (`lib/json-rpc.ts`).
 */

import { EXACT_NUMBER_MARK, isRecord } from '../lib/json-rpc.ts';
import { readJson } from '../transport/json-text.ts';

/** An integer of so many digits after the name of a member that holds an id. A quotation mark inside a text is escaped. */
const LARGE_IDS = /(?<!\\)("(?:id|requestId|progressToken)"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g;

/** The value of a text, with ids as they were written. */
export function readMessage(text: string): { readonly value: unknown } | undefined {
  const read = readJson(text);
  if (read === undefined) return undefined;
  const { value } = read;
  const frames = Array.isArray(value) ? value : [value];
  if (!frames.some(hasLargeId)) return read;
  const marked = readJson(text.replaceAll(LARGE_IDS, `$1"${EXACT_NUMBER_MARK.replace('\0', '\\u0000')}$2"`));
  const exact = Array.isArray(marked?.value) ? marked.value : [marked?.value];
  const joined = frames.map((frame: unknown, at) => withIds(frame, exact[at]));
  return { value: Array.isArray(value) ? joined : joined[0] };
}

function isLarge(id: unknown): boolean {
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}

function hasLargeId(frame: unknown): boolean {
  if (!isRecord(frame)) return false;
  if (isLarge(frame['id'])) return true;
  const { params } = frame;
  if (!isRecord(params)) return false;
  const { requestId, _meta } = params;
  return isLarge(requestId) || (isRecord(_meta) && isLarge(_meta['progressToken']));
}

/** Only the members that are ids: others that have such a name stay numbers. */
function withIds(frame: unknown, exact: unknown): unknown {
  if (!isRecord(frame) || !isRecord(exact)) return frame;
  const { params } = frame;
  const given = { ...frame, ...('id' in frame ? { id: exact['id'] } : {}) };
  if (!isRecord(params) || !isRecord(exact['params'])) return given;
  const { requestId, _meta } = exact['params'];
  const own = params['_meta'];
  return {
    ...given,
    params: {
      ...params,
      ...('requestId' in params ? { requestId } : {}),
      ...(isRecord(own) && isRecord(_meta) && 'progressToken' in own
        ? { _meta: { ...own, progressToken: _meta['progressToken'] } }
        : {}),
    },
  };
}
