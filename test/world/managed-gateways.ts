/** Managed gateways of one test file, closed after each test. */

import { afterEach } from 'vitest';
import { type ManagedGateway, type ManagedGatewayOptions, openManagedGateway } from './managed-gateway.ts';

/** Returns a function that opens gateways, which are closed after the test. */
export function managedGateways(): (options?: ManagedGatewayOptions) => Promise<ManagedGateway> {
  const opened: ManagedGateway[] = [];
  afterEach(async () => {
    for (const world of opened.splice(0).reverse()) await world.close();
  });
  return async (options) => {
    const world = await openManagedGateway(options);
    opened.push(world);
    return world;
  };
}
