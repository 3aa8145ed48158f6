/** The part of a host that an agent needs: tools for its model, and expansion of prompts. A `Host` implements it. */

import type { AdapterHost } from '../adapters/adapter-host.ts';
import type { Host } from '../host/host.ts';

export interface AgentHost extends AdapterHost, Pick<Host, 'expand' | 'instructions' | 'definitionTokens'> {}
