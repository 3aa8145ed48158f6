/** Loads the SDK's OAuth flows on demand, so that a call with a valid token does not pay for them. */

export type Sdk = typeof import('@modelcontextprotocol/client');

export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}
