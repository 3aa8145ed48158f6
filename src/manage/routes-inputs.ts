/** The routes for values that entries refer to as `${input:id}`: which are set, setting and removing them. */

import { PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { type UsedInput, unusedInputs, usedInputs } from '../setup/input-list.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref } from './api-schemas.ts';
import { textIn } from './query-values.ts';
import { type JsonRoute, refusal } from './route.ts';

export function inputRoutes({ host }: Pick<RouteParts, 'host'>): readonly JsonRoute[] {
  const answer = object({ inputs: list(ref('Input')) });
  return [
    {
      method: 'GET',
      path: '/api/inputs',
      operation: 'listInputs',
      summary: 'The inputs that entries refer to, and where their values are; never the values.',
      answer,
      handle: () => all(host),
    },
    {
      method: 'POST',
      path: '/api/inputs',
      operation: 'setInput',
      summary: 'Store the value of an input in the keyring, and start the servers that wait for it.',
      body: 'NewInput',
      answer,
      fails: [404, 409, 502],
      handle: async ({ body }) => {
        const { id, value, server } = body as unknown as NewInput;
        const input = await chosen(host, id, server);
        const { options = [] } = input;
        if (options.length > 0 && !options.includes(value))
          throw new PlugboardError('INVALID_ARGUMENTS', `${id} must be one of its options`, {
            detail: { place: { path: ['value'] } },
          });
        await host.management.inputValues.set(input, value);
        await Promise.all(input.servers.map((name) => host.reconnect(name).catch(() => {})));
        return all(host);
      },
    },
    {
      method: 'DELETE',
      path: '/api/inputs/{id}',
      operation: 'removeInput',
      summary: 'Delete the stored value of an input.',
      query: { server: { type: 'string', description: 'If servers of several owners use the id.' } },
      answer,
      fails: [404, 409],
      handle: async ({ params, query }) => {
        const input = await chosen(host, params['id'] ?? '', textIn(query, 'server'));
        await host.management.inputValues.remove(input);
        return all(host);
      },
    },
  ];
}

async function inputsOf(host: Host): Promise<readonly UsedInput[]> {
  const { config, inputValues, home } = host.management;
  const used = usedInputs(config);
  return [...used, ...(await unusedInputs(inputValues, used, home))];
}

async function all(host: Host): Promise<object> {
  const inputs = await Promise.all(
    (await inputsOf(host)).map(async ({ id, owner, servers, description, password, options, fallback }) => ({
      id,
      servers,
      password,
      kept: (await host.management.inputValues.place({ id, owner })) ?? null,
      ...(owner === '' ? {} : { owner }),
      ...(description === undefined ? {} : { description }),
      ...(options === undefined ? {} : { options }),
      ...(fallback === undefined ? {} : { default: fallback }),
    })),
  );
  return { inputs };
}

async function chosen(host: Host, id: string, server: string | undefined): Promise<UsedInput> {
  const matching = (await inputsOf(host)).filter(
    (input) => input.id === id && (server === undefined || input.servers.includes(server)),
  );
  const [input, other] = matching;
  if (input === undefined)
    throw refusal(404, `No server uses the input ${JSON.stringify(id)}`, {
      hint: 'Entries refer to it as ${input:id}.',
    });
  if (other !== undefined)
    throw refusal(409, `Servers of several owners use the input ${JSON.stringify(id)}`, {
      hint: `Choose one of ${matching.flatMap(({ servers }) => servers[0] ?? []).join(', ')}.`,
    });
  return input;
}

interface NewInput {
  readonly id: string;
  readonly value: string;
  readonly server?: string;
}
