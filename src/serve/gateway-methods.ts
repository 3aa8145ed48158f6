/** The JSON-RPC methods of the gateway: each row calls one method of `GatewayClient`. */

import type { Method, MethodTable } from '../endpoint/methods.ts';
import type { ContentList, GatewayClient } from './gateway-client.ts';
import { listPrompts, listResources, listTemplates } from './gateway-content.ts';

export const GATEWAY_METHODS: MethodTable<GatewayClient> = {
  fallback: { rounds: true, work: (client, params, work, method) => client.extension(method, params, work) },
  requests: new Map<string, Method<GatewayClient>>([
    ['tools/list', { cached: true, answer: (client, params, who) => client.listTools(params, who) }],
    ['resources/list', listed(listResources)],
    ['resources/templates/list', listed(listTemplates)],
    ['prompts/list', listed(listPrompts)],
    ['tools/call', { rounds: true, work: (client, params, work) => client.call(params, work) }],
    [
      'resources/read',
      { rounds: true, cached: true, work: (client, params, work) => client.read(params, work) },
    ],
    ['prompts/get', { rounds: true, work: (client, params, work) => client.prompt(params, work) }],
    ['tasks/get', { work: (client, params, work) => client.tasks.get(params, work) }],
    ['tasks/cancel', { work: (client, params, work) => client.tasks.cancel(params, work) }],
    ['tasks/update', { era: 'modern', work: (client, params, work) => client.tasks.update(params, work) }],
    ['tasks/result', { era: 'legacy', work: (client, params, work) => client.tasks.result(params, work) }],
    ['tasks/list', { era: 'legacy', work: (client, params, work) => client.tasks.list(params, work) }],
    ['completion/complete', { work: (client, params, work) => client.complete(params, work) }],
  ]),
  notifications: new Map([
    ['notifications/roots/list_changed', { notified: (client: GatewayClient) => client.rootsChanged() }],
  ]),
};

/** Builds the list method of one kind of content. */
function listed(list: ContentList): Method<GatewayClient> {
  return { cached: true, answer: (client, params, who) => client.listContent(list, params, who) };
}
