/** The SDK's OAuth flows, loaded when a flow has to run: a valid token never pays for them. */

export type Sdk = typeof import('@modelcontextprotocol/client');

export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}
