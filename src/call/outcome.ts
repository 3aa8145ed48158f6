/** Classifies how a call ended. */

import type { PlugboardError } from '../errors.ts';

/** How a call ended: `ok`, or the kind of failure. */
export type Outcome = 'ok' | 'tool-error' | 'error' | 'denied' | 'cancelled' | 'timeout';

export function outcomeOf(error: PlugboardError): Outcome {
  switch (error.code) {
    case 'CANCELLED':
      return 'cancelled';
    case 'TIMEOUT':
      return 'timeout';
    case 'APPROVAL_REQUIRED':
    case 'DENIED':
    case 'BLOCKED_BY_POLICY':
    case 'UNTRUSTED':
    case 'PIN_CHANGED':
    case 'EGRESS_REFUSED':
      return 'denied';
    default:
      return 'error';
  }
}
