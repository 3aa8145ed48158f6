/** Converts errors of a model's provider to a PlugboardError. */

import { type ErrorCode, PlugboardError } from '../errors.ts';
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
  const failure = (code: ErrorCode, message: string, hint?: string): PlugboardError =>
    new PlugboardError(code, message, { cause: thrown, hint });
  if (error instanceof Error && error.name === 'AbortError') {
    return failure('CANCELLED', 'The turn was cancelled');
  }
  const status = isRecord(error) && typeof error['statusCode'] === 'number' ? error['statusCode'] : undefined;
  const reason = clean(error instanceof Error ? error.message : String(error), {
    multiline: false,
    max: MAX_REASON_CHARS,
  }).replace(/\.$/, '');
  if (status === HTTP_UNAUTHORIZED || status === HTTP_FORBIDDEN) {
    const message = `The provider of ${model} refused the key: ${reason}`;
    return failure('AUTH_FAILED', message, 'Check the key in your environment.');
  }
  if (status === HTTP_NOT_FOUND) {
    const message = `The provider does not know ${model}: ${reason}`;
    return failure('CONNECT_FAILED', message, 'Check the name of the model and the address.');
  }
  if (status === HTTP_TOO_MANY || (status !== undefined && status >= HTTP_SERVER_ERROR)) {
    const message = `The provider of ${model} is overloaded or failing: ${reason}`;
    return failure('CONNECT_FAILED', message, 'Wait a moment and send it again; the conversation is kept.');
  }
  if (status !== undefined) {
    return failure('PROTOCOL_ERROR', `The provider of ${model} refused the request: ${reason}`);
  }
  if (isRecord(error) && error['isRetryable'] === true) {
    const message = `${model} could not be reached: ${reason}`;
    return failure(
      'CONNECT_FAILED',
      message,
      'Check the address and your network; the conversation is kept.',
    );
  }
  const message = `${model} returned an unusable response: ${reason}`;
  return failure('PROTOCOL_ERROR', message, 'The conversation is kept: send it again.');
}

/** After its retries the SDK wraps the last error, which has the actual reason. */
function lastOf(thrown: unknown): unknown {
  return isRecord(thrown) && thrown['lastError'] !== undefined ? thrown['lastError'] : thrown;
}
