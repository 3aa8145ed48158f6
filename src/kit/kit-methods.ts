/** The JSON-RPC methods of a kit server. */

import type { Params } from '../endpoint/client-era.ts';
import type { Method, MethodTable } from '../endpoint/methods.ts';
import { firstPage } from '../endpoint/requests.ts';
import { unknownMethod } from '../endpoint/rpc-failure.ts';
import { complete } from './complete-argument.ts';
import type { Context } from './handler-context.ts';
import type { KitClient } from './kit-client.ts';

export const KIT_METHODS: MethodTable<KitClient> = {
  requests: new Map<string, Method<KitClient>>([
    [
      'tools/list',
      {
        cached: true,
        answer({ offer }, params) {
          firstPage(params);
          const tools = offer.listTools();
          return tools instanceof Promise ? tools.then((list) => ({ tools: list })) : { tools };
        },
      },
    ],
    ['resources/list', listed('resources', ({ offer }) => ({ resources: offer.listResources() }))],
    [
      'resources/templates/list',
      listed('resources', ({ offer }) => ({ resourceTemplates: offer.listTemplates() })),
    ],
    ['prompts/list', listed('prompts', ({ offer }) => ({ prompts: offer.listPrompts() }))],
    ['tools/call', { rounds: true, work: handled('name', (client, ...given) => client.call(...given)) }],
    [
      'resources/read',
      { rounds: true, cached: true, work: handled('uri', (client, ...given) => client.read(...given)) },
    ],
    ['prompts/get', { rounds: true, work: handled('name', (client, ...given) => client.prompt(...given)) }],
    [
      'completion/complete',
      { work: handled(undefined, ({ offer }, params, context) => complete(offer, params, context)) },
    ],
  ]),
};

/** Builds the list method of one kind; a server without that kind does not have the method. */
function listed(kind: 'resources' | 'prompts', list: (client: KitClient) => Params): Method<KitClient> {
  return {
    cached: true,
    answer(client, params, _clientInfo, method) {
      if (!client.offers(kind)) throw unknownMethod(method);
      firstPage(params);
      return list(client);
    },
  };
}

/** Runs a handler of the author; `key`: the parameter that names the requested item. */
function handled(
  key: 'name' | 'uri' | undefined,
  run: (client: KitClient, params: Params, context: Context) => Promise<Params>,
): Extract<Method<KitClient>, { work: unknown }>['work'] {
  return (client, params, work, method) =>
    client.handled(method, key === undefined ? undefined : params[key], params, work, (context) =>
      run(client, params, context),
    );
}
