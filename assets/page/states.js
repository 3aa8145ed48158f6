/** Tone and label of each server state, and of each outcome of a call. */

export const STATUS = {
  connected: ['good', 'connected'],
  connecting: ['busy', 'connecting'],
  idle: ['calm', 'idle'],
  disconnected: ['calm', 'disconnected'],
  disabled: ['calm', 'disabled'],
  needs_auth: ['warn', 'needs a login'],
  needs_client_registration: ['warn', 'needs a registration'],
  untrusted: ['warn', 'not approved'],
  blocked: ['bad', 'blocked'],
  failed: ['bad', 'failed'],
};

/** A call without an outcome is running. */
export const OUTCOMES = {
  ok: ['good', 'ok'],
  'tool-error': ['warn', 'tool error'],
  error: ['bad', 'error'],
  denied: ['bad', 'denied'],
  cancelled: ['calm', 'cancelled'],
  timeout: ['bad', 'timeout'],
};
