/** Validates the options of a call that plain JavaScript can get wrong, before they cause an internal error. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { shown } from '../lib/option-check.ts';
import type { CallOptions } from './call.ts';

const KNOWN: Readonly<Record<keyof CallOptions, true>> = {
  signal: true,
  cancellation: true,
  onProgress: true,
  timeoutMs: true,
  meta: true,
  ref: true,
  media: true,
  mediaLimits: true,
  approved: true,
  select: true,
  deduplicate: true,
  keepsStructured: true,
  viaCallTool: true,
  readOnly: true,
  onMismatch: true,
  handedOn: true,
  onProgram: true,
  ownProgram: true,
  task: true,
  becomes: true,
  background: true,
};

/** The error for the first option that has no meaning; undefined if all have one. */
export function faultOfCallOptions(options: CallOptions): PlugboardError | undefined {
  const { signal, timeoutMs, onProgress, meta, approved, select, media, mediaLimits, background } = options;
  if (isGiven(signal) && !isSignal(signal)) return invalid('signal', 'an AbortSignal', signal);
  if (isGiven(timeoutMs) && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    return invalid('timeoutMs', 'a positive number', timeoutMs);
  if (isGiven(onProgress) && typeof onProgress !== 'function')
    return invalid('onProgress', 'a function', onProgress);
  if (isGiven(meta) && !isRecord(meta)) return invalid('meta', 'an object', meta);
  if (isGiven(approved) && typeof approved !== 'boolean')
    return invalid('approved', 'true or false', approved);
  if (isGiven(background) && typeof background !== 'boolean')
    return invalid('background', 'true or false', background);
  if (isGiven(select) && typeof select !== 'string')
    return invalid('select', 'a JMESPath expression', select);
  if (isGiven(media) && !isSet(media)) return invalidMedia(media);
  if (isGiven(mediaLimits) && !isLimits(mediaLimits))
    return invalid('mediaLimits', 'an object with the numbers "image", "total" and "pixels"', mediaLimits);
  for (const name in options) if (!(name in KNOWN)) return slip(name);
  return undefined;
}

function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'has' in value && typeof value.has === 'function';
}

function isLimits(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { image, total, pixels } = value;
  const isSize = (size: unknown): boolean => typeof size === 'number' && size >= 0;
  return isSize(image) && isSize(total) && (pixels === undefined || isSize(pixels));
}

function invalidMedia(media: unknown): PlugboardError {
  const types = typeof media === 'string' ? `MEDIA_TYPES[${JSON.stringify(media)}]` : "['image/png']";
  return new PlugboardError('CONFIG_INVALID', 'The option "media" must be a Set of media types', {
    hint: `It is ${shown(media)}: write new Set(${types}).`,
  });
}

/** A name that is near to none is let through: programs may keep notes of their own in options. */
function slip(name: string): PlugboardError | undefined {
  const [meant] = nearest(name, Object.keys(KNOWN), 1);
  return meant === undefined
    ? undefined
    : new PlugboardError('CONFIG_INVALID', `"${name}" is not an option of a call`, {
        hint: `Did you mean "${meant}"?`,
      });
}

/** Throws for a signal that is none. */
export function checkSignal(signal: unknown): void {
  if (isGiven(signal) && !isSignal(signal)) throw invalid('signal', 'an AbortSignal', signal);
}

/** Treats null like undefined, because plain JavaScript has no types to forbid it. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Also true for a signal of another realm or library. */
function isSignal(signal: unknown): boolean {
  return (
    typeof signal === 'object' &&
    signal !== null &&
    'aborted' in signal &&
    'addEventListener' in signal &&
    typeof signal.addEventListener === 'function'
  );
}

function invalid(name: string, expected: string, value: unknown): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `The option "${name}" must be ${expected}`, {
    hint: `It is ${shown(value)}.`,
  });
}
