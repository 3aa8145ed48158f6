/** The JSON-RPC methods of a kit server. */

import type { Era } from '../connection/eras.ts';
import type { Params } from '../endpoint/client-era.ts';
import type { Method, MethodTable } from '../endpoint/methods.ts';
import { firstPage } from '../endpoint/requests.ts';
import { invalidParams, unknownMethod } from '../endpoint/rpc-failure.ts';
import { checkTasks } from '../endpoint/task-support.ts';
import type { Work } from '../endpoint/work.ts';
import { isRecord } from '../lib/json.ts';
import type { Access } from './access.ts';
import type { Completer } from './definitions.ts';
import type { Context } from './handler-context.ts';
import type { KitClient } from './kit-client.ts';
import type { KitTasks } from './kit-tasks.ts';
import type { Offer } from './offer.ts';

export const KIT_METHODS: MethodTable<KitClient> = {
  requests: new Map<string, Method<KitClient>>([
    [
      'tools/list',
      {
        cached: true,
        answer(client, params, clientInfo, _method, exchange) {
          firstPage(params);
          const tools = client.offer.listTools(() => client.access(clientInfo, exchange));
          return tools instanceof Promise ? tools.then((list) => ({ tools: list })) : { tools };
        },
      },
    ],
    [
      'resources/list',
      listed('resources', ({ offer }, access) => {
        const resources = offer.listResources(access);
        return resources instanceof Promise ? resources.then((list) => ({ resources: list })) : { resources };
      }),
    ],
    [
      'resources/templates/list',
      listed('resources', ({ offer }) => ({ resourceTemplates: offer.listTemplates() })),
    ],
    ['prompts/list', listed('prompts', ({ offer }) => ({ prompts: offer.listPrompts() }))],
    ['tools/call', { rounds: true, work: (client, params, work) => client.call(params, work) }],
    ['tasks/get', tasked('both', (tasks, params, { principal }, work) => tasks.get(params, principal, work))],
    [
      'tasks/cancel',
      tasked('both', (tasks, params, { principal }, work) => tasks.cancel(params, principal, work)),
    ],
    ['tasks/update', tasked('modern', (tasks, params, { principal }) => tasks.update(params, principal))],
    [
      'tasks/result',
      tasked('legacy', (tasks, params, { principal }, work) => tasks.result(params, principal, work)),
    ],
    ['tasks/list', tasked('legacy', (tasks, params, client) => tasks.list(params, client.principal, client))],
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
function listed(
  kind: 'resources' | 'prompts',
  list: (client: KitClient, access: () => Access) => Params | Promise<Params>,
): Method<KitClient> {
  return {
    cached: true,
    answer(client, params, clientInfo, method, exchange) {
      if (!client.offers(kind)) throw unknownMethod(method);
      firstPage(params);
      return list(client, () => client.access(clientInfo, exchange));
    },
  };
}

/** Builds a method of tasks; a server without tools that have tasks does not have it. */
function tasked(
  era: Era | 'both',
  work: (tasks: KitTasks, params: Params, client: KitClient, work: Work) => Promise<Params>,
): Method<KitClient> {
  return {
    era: era === 'both' ? undefined : era,
    async work(client, params, asking, method) {
      if (!client.offer.hasTasks) throw unknownMethod(method);
      checkTasks(asking.clientInfo, method);
      return work(client.tasks, params, client, asking);
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

/** Limit of the protocol. */
const MAX_VALUES = 100;

/** Completes an argument of a prompt or a variable of a template while a person types. */
async function complete(offer: Offer, params: Params, context: Context): Promise<Params> {
  const { ref, argument, context: around } = params;
  if (!isRecord(ref) || !isRecord(argument)) {
    throw invalidParams('completion/complete needs ref and argument');
  }
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw invalidParams('The argument to complete needs a name and a value');
  }
  const completer = completerOf(offer, ref, name);
  const given = isRecord(around) && isRecord(around['arguments']) ? around['arguments'] : {};
  const known = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  const values = completer === undefined ? [] : await completer(value, known, context);
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function completerOf(offer: Offer, ref: Params, argument: string): Completer | undefined {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const prompt = offer.prompts.get(name);
    if (prompt === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}`);
    return Object.hasOwn(prompt.arguments, argument) ? prompt.arguments[argument]?.complete : undefined;
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const offered = offer.templates.get(uri);
    if (offered === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}`);
    const { complete: completers = {} } = offered.template;
    return Object.hasOwn(completers, argument) ? completers[argument] : undefined;
  }
  throw invalidParams('This ref is of no known type');
}
