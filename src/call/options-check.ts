/** Checks the options of a call that plain JavaScript can get wrong: a wrong one would be an internal error later. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { CallOptions } from './call.ts';

/** The error for the first option that has no meaning; undefined if all have one. */
export function faultOfCallOptions(options: CallOptions): PlugboardError | undefined {
  const { signal, timeoutMs, onProgress, meta, approved } = options;
  if (isGiven(signal) && !isSignal(signal)) return invalid('signal', 'an AbortSignal');
  if (isGiven(timeoutMs) && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    return invalid('timeoutMs', 'a positive number');
  if (isGiven(onProgress) && typeof onProgress !== 'function') return invalid('onProgress', 'a function');
  if (isGiven(meta) && !isRecord(meta)) return invalid('meta', 'an object');
  if (isGiven(approved) && typeof approved !== 'boolean') return invalid('approved', 'true or false');
  return undefined;
}

/** Throws for a signal that is none. */
export function checkSignal(signal: unknown): void {
  if (isGiven(signal) && !isSignal(signal)) throw invalid('signal', 'an AbortSignal');
}

/** Where there is no type to forbid it, null is as good as nothing. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Also one of another realm or library. */
function isSignal(signal: unknown): boolean {
  return (
    typeof signal === 'object' &&
    signal !== null &&
    'aborted' in signal &&
    'addEventListener' in signal &&
    typeof signal.addEventListener === 'function'
  );
}

function invalid(name: string, expected: string): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `The option "${name}" must be ${expected}`);
}
