/** What the gateway calls itself: the name and version of this package. */

import { readVersion } from '../lib/version.ts';
import type { GatewayIdentity } from './gateway-server.ts';

export const gatewayIdentity: GatewayIdentity = { name: 'plugboard', version: readVersion() };
