/** The JSON-RPC methods of the gateway: each row calls one method of `GatewayClient`. */

import type { Method, MethodTable } from '../endpoint/methods.ts';
import type { GatewayClient } from './gateway-client.ts';

export const GATEWAY_METHODS: MethodTable<GatewayClient> = {
  fallback: { rounds: true, work: (client, params, work, method) => client.extension(method, params, work) },
  requests: new Map<string, Method<GatewayClient>>([
    [
      'tools/list',
      { cached: true, answer: (client, params, clientInfo) => client.listTools(params, clientInfo) },
    ],
    [
      'resources/list',
      { cached: true, answer: (client, params, clientInfo) => client.listResources(params, clientInfo) },
    ],
    [
      'resources/templates/list',
      { cached: true, answer: (client, params, clientInfo) => client.listTemplates(params, clientInfo) },
    ],
    [
      'prompts/list',
      { cached: true, answer: (client, params, clientInfo) => client.listPrompts(params, clientInfo) },
    ],
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
