/** What an agent needs of a host: tools to give its model, and words to expand. A `Host` is one. */

import type { AdapterHost } from '../adapters/adapter-host.ts';
import type { Host } from '../host.ts';

export interface AgentHost extends AdapterHost, Pick<Host, 'expand' | 'instructions' | 'definitionTokens'> {}
