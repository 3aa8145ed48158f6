/** Pins for all servers but those that are part of the program itself, which change with it. */

import type { ServerSpec } from '../config/entry.ts';
import { FREE, type Pins } from './pins-store.ts';

/** `isExempt`: asked at each use, since some servers are known for that only when they are connected. */
export function pinsExcept(pins: Pins, isExempt: (spec: ServerSpec) => boolean): Pins {
  return {
    get generation() {
      return pins.generation;
    },
    check: (spec, ...rest) => (isExempt(spec) ? FREE : pins.check(spec, ...rest)),
    checkParts: (spec, ...rest) => (isExempt(spec) ? new Set() : pins.checkParts(spec, ...rest)),
    stateOf: (spec, ...rest) => (isExempt(spec) ? 'free' : pins.stateOf(spec, ...rest)),
    reload: () => pins.reload(),
    flush: () => pins.flush(),
  };
}
