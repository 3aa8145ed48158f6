/** The routes for clients of the gateway: who they are, what they called, and the end of their tokens. */

import type { ClientSetting } from '../config/entry.ts';
import { groupBy } from '../lib/group-by.ts';
import { own } from '../lib/json.ts';
import type { ConnectedClient } from '../serve/connected-clients.ts';
import { refusedClients } from '../serve/refused-clients.ts';
import { readTokenFile, revokeToken, type StoredToken, tokenFileOf } from '../serve/token-file.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { type Route, refusal } from './route.ts';

type ClientParts = Pick<RouteParts, 'host' | 'traffic' | 'home'>;

export function clientRoutes(parts: ClientParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/clients',
      operation: 'listClients',
      summary: 'The clients of the gateway: how each is recognised, its profile, its sessions and its calls.',
      answer: object({
        clients: list(ref('Client')),
        connected: list(ref('ConnectedClient')),
        budgets: { ...list(ref('BudgetUse')), description: 'Of all clients together.' },
      }),
      handle: () => {
        const connected = parts.traffic.clients.list();
        return { clients: clientsOf(parts, connected), connected, budgets: parts.host.budgets() };
      },
    },
    {
      method: 'DELETE',
      path: '/api/clients/{name}/token',
      operation: 'revokeToken',
      summary: 'Revoke the token of a client, and end its sessions.',
      answer: object({ name: text, revoked: { type: 'boolean' } }),
      fails: [404],
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        if (!tokensOf(parts).some((token) => token.name === name))
          throw refusal(404, `There is no token named ${JSON.stringify(name)}`, {
            hint: 'A client of config.json ends when it is removed from that file.',
          });
        await revokeToken(parts.home, name);
        return { name, revoked: true };
      },
    },
  ];
}

function clientsOf(parts: ClientParts, connected: readonly ConnectedClient[]): readonly object[] {
  const { host, traffic } = parts;
  const { settings } = host.profiles;
  const file = readTokenFile(tokenFileOf(parts.home));
  const tokens = new Map(file.tokens.map((token) => [token.name, token]));
  const refused = refusedClients(settings, file, Date.now());
  const byClient = traffic.calls.byClient();
  const sessions = groupBy(connected, ({ client }) => client ?? '');
  sessions.delete('');
  const names = new Set([
    ...tokens.keys(),
    ...Object.keys(settings.clients ?? {}),
    ...sessions.keys(),
    ...byClient.keys(),
  ]);
  return [...names].map((name) => {
    const token = tokens.get(name);
    const setting = own(settings.clients, name);
    const profile = token?.profile ?? setting?.profile;
    const problem = refused.get(name);
    return {
      name,
      recognisedBy: waysOf(token, setting),
      ...(profile === undefined ? {} : { profile, budgets: host.profiles.budgetsOf(name, profile) }),
      ...(token === undefined ? {} : { token: times(token) }),
      ...(problem === undefined ? {} : { problem }),
      sessions: sessions.get(name)?.length ?? 0,
      calls: 0,
      running: 0,
      failed: 0,
      ...byClient.get(name),
    };
  });
}

function tokensOf({ home }: ClientParts): readonly StoredToken[] {
  return readTokenFile(tokenFileOf(home)).tokens;
}

function waysOf(token: StoredToken | undefined, setting: ClientSetting | undefined): readonly string[] {
  return [
    ...(token === undefined && setting?.token === undefined ? [] : ['token']),
    ...(setting?.claims === undefined ? [] : ['claims']),
    ...(setting?.local === true ? ['local'] : []),
  ];
}

function times({ created, expires }: StoredToken): object {
  return { created, ...(expires === undefined ? {} : { expires }) };
}
