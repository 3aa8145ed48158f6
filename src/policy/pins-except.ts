/** Exempts servers that are part of the program itself from pins, since they change with it. */

import type { ServerSpec } from '../config/entry.ts';
import { FREE, type Pins } from './pins-store.ts';

/** `isExempt` is called at each use, since some servers are recognized only after they are connected. */
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
