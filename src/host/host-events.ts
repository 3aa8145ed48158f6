/** Validates the event names of `host.on`, for plain JavaScript. */

import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { HostEvents } from './host-options.ts';

const NAMES: Readonly<Record<keyof HostEvents, true>> = {
  'call.begin': true,
  'call.arguments': true,
  'call.result': true,
  'call.progress': true,
  'call.end': true,
  question: true,
  answer: true,
  'elicitation.complete': true,
  server: true,
  ready: true,
  tools: true,
  resources: true,
  prompts: true,
  login: true,
  log: true,
  message: true,
};

/** Throws USAGE for a listener that would never be called. */
export function checkEvent(name: unknown, listener: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(NAMES, name)) {
    const known = Object.keys(NAMES);
    const close = nearest(String(name), known);
    const list = (names: readonly string[]): string => names.map((each) => JSON.stringify(each)).join(', ');
    throw new PlugboardError('USAGE', `there is no event called ${JSON.stringify(String(name))}`, {
      hint: close.length > 0 ? `Did you mean ${list(close)}?` : `There are ${list(known)}.`,
    });
  }
  if (typeof listener !== 'function')
    throw new PlugboardError('USAGE', `the listener of ${JSON.stringify(name)} must be a function`);
}
