/** Converts errors of a model's provider to a PlugboardError. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';

const MAX_REASON_CHARS = 500;
const HTTP_UNAUTHORIZED = 401;
const HTTP_FORBIDDEN = 403;
const HTTP_NOT_FOUND = 404;
const HTTP_TOO_MANY = 429;
const HTTP_SERVER_ERROR = 500;

/** Distinguishes errors by the documented fields of the SDK's errors, never by their text. */
export function modelFailure(thrown: unknown, model: string): PlugboardError {
  if (thrown instanceof PlugboardError) return thrown;
  const error = lastOf(thrown);
  if (error instanceof Error && error.name === 'AbortError') {
    return new PlugboardError('CANCELLED', 'The turn was cancelled', { cause: thrown });
  }
  const status = isRecord(error) && typeof error['statusCode'] === 'number' ? error['statusCode'] : undefined;
  const reason = clean(error instanceof Error ? error.message : String(error), {
    multiline: false,
    max: MAX_REASON_CHARS,
  }).replace(/\.$/, '');
  if (status === HTTP_UNAUTHORIZED || status === HTTP_FORBIDDEN) {
    return new PlugboardError('AUTH_FAILED', `The provider of ${model} refused the key: ${reason}`, {
      cause: thrown,
      hint: 'Check the key in your environment.',
    });
  }
  if (status === HTTP_NOT_FOUND) {
    return new PlugboardError('CONNECT_FAILED', `The provider does not know ${model}: ${reason}`, {
      cause: thrown,
      hint: 'Check the name of the model and the address.',
    });
  }
  if (status === HTTP_TOO_MANY || (status !== undefined && status >= HTTP_SERVER_ERROR)) {
    return new PlugboardError(
      'CONNECT_FAILED',
      `The provider of ${model} is overloaded or failing: ${reason}`,
      {
        cause: thrown,
        hint: 'Wait a moment and send it again; the conversation is kept.',
      },
    );
  }
  if (status !== undefined) {
    return new PlugboardError('PROTOCOL_ERROR', `The provider of ${model} refused the request: ${reason}`, {
      cause: thrown,
    });
  }
  if (isRecord(error) && error['isRetryable'] === true) {
    return new PlugboardError('CONNECT_FAILED', `${model} could not be reached: ${reason}`, {
      cause: thrown,
      hint: 'Check the address and your network; the conversation is kept.',
    });
  }
  return new PlugboardError('PROTOCOL_ERROR', `${model} returned an unusable response: ${reason}`, {
    cause: thrown,
    hint: 'The conversation is kept: send it again.',
  });
}

/** After its retries the SDK wraps the last error, which has the actual reason. */
function lastOf(thrown: unknown): unknown {
  return isRecord(thrown) && thrown['lastError'] !== undefined ? thrown['lastError'] : thrown;
}
