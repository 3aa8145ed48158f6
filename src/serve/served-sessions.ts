/** What servers behind a gateway are told, once, when they connect: they may ask; who answers is the client behind each session. */

import type { HostOptions } from '../host-options.ts';

export const SERVED_SESSIONS: NonNullable<HostOptions['sessions']> = {
  elicit: () => ({ action: 'cancel' }),
  sample: () => undefined,
  sampling: { tools: true, context: true },
  roots: [],
};
