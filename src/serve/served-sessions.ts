/**
 * The capabilities declared once to servers behind a gateway when they connect; the client behind each session
 * answers.
 */

import type { HostOptions } from '../host/host-options.ts';

export const SERVED_SESSIONS: NonNullable<HostOptions['sessions']> = {
  elicit: () => ({ action: 'cancel' }),
  sample: () => undefined,
  sampling: { tools: true, context: true },
  roots: [],
};
