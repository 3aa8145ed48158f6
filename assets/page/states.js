/** Tone and label of each server state. */

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
