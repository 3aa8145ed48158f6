/** The routes about servers: states, adding and removing, connecting, and logging in. */

import type { ServerEntry } from '../config/entry.ts';
import { EDITABLE_SCOPES, type EditableScope } from '../config/scopes.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { defined } from '../lib/defined.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { shownServer } from './next-step.ts';
import { HttpFailure, type JsonRoute } from './route.ts';
import type { WaitingLogins } from './waiting-logins.ts';

export function serverRoutes({ host, logins }: Pick<RouteParts, 'host' | 'logins'>): readonly JsonRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/servers',
      operation: 'listServers',
      summary: 'All servers and how they are.',
      answer: object({ servers: list(ref('ServerReport')), problems: list(ref('Problem')) }),
      handle: () => ({
        servers: host.servers().map((report) => shownServer(report, host.management)),
        problems: host.problems(),
      }),
    },
    {
      method: 'POST',
      path: '/api/servers',
      operation: 'addServer',
      summary:
        'Write a server into a configuration file, and start it if it may be started. One that runs a program waits for an approval.',
      body: 'NewServer',
      status: 201,
      answer: ref('Server'),
      fails: [409],
      handle: async ({ body, signal }) => {
        const { name, entry, scope, replace } = body as {
          readonly name: string;
          // `save` validates it, with the errors of the configuration.
          readonly entry: ServerEntry;
          readonly scope?: EditableScope;
          readonly replace?: boolean;
        };
        if (replace !== true) refuseTaken(host, name, scope ?? 'local');
        try {
          await host.save(name, entry, { scope, replace, signal, unapproved: true });
        } catch (thrown) {
          // A name is also taken by an entry that a stronger scope shadows.
          const { code, server } = asPlugboardError(thrown);
          throw code === 'USAGE' && server === name && replace !== true
            ? taken(name, scope ?? 'local')
            : thrown;
        }
        return describeServer(host, name);
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{name}',
      operation: 'getServer',
      summary: 'One server: how it is, where it is configured, and its entry without its secrets.',
      answer: ref('Server'),
      fails: [404],
      handle: ({ params }) => describeServer(host, nameIn(params)),
    },
    {
      method: 'DELETE',
      path: '/api/servers/{name}',
      operation: 'removeServer',
      summary: 'Take a server out of its configuration file, or out of this run if it is in no file.',
      query: {
        scope: {
          type: 'string',
          enum: EDITABLE_SCOPES,
          description: 'Where to remove it, when several scopes have it.',
        },
      },
      answer: {
        type: 'object',
        properties: { name: text, scope: text, file: text, removed: { const: true } },
        required: ['name', 'scope', 'removed'],
      },
      fails: [404],
      handle: async ({ params, query, signal }) => {
        const name = nameIn(params);
        const wanted = query.get('scope');
        const scope = EDITABLE_SCOPES.find((each) => each === wanted);
        const { scope: inUse } = await host.describe(name);
        logins.cancel(name);
        if (inUse === 'code' && scope === undefined) {
          await host.remove(name);
          return { name, scope: 'code', removed: true };
        }
        return { name, ...(await host.erase(name, { scope, signal })), removed: true };
      },
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/approve',
      operation: 'approveServer',
      summary:
        'Approve a server that was added here, and start it: for a person who was shown its whole entry.',
      body: 'Approval',
      answer: ref('Server'),
      fails: [404, 409],
      handle: async ({ params, body }) => {
        const name = nameIn(params);
        await approve(host, name, String(body['digest']));
        await host.connect(name).catch(() => {});
        return describeServer(host, name);
      },
    },
    startRoute(host, 'connect', 'Start a server, or try again; answers when it is there.'),
    startRoute(host, 'reconnect', 'End a server, if it runs, and start it again; answers when it is there.'),
    {
      method: 'POST',
      path: '/api/servers/{name}/disconnect',
      operation: 'disconnectServer',
      summary: 'End a server; it stays away until it is asked for again.',
      answer: ref('Server'),
      fails: [404],
      handle: async ({ params }) => {
        await host.disconnect(nameIn(params));
        return describeServer(host, nameIn(params));
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{name}/pins',
      operation: 'listHeld',
      summary: 'What is held back of a server because it is new or has changed, with the differences.',
      answer: ref('Held'),
      fails: [404],
      handle: ({ params }) => host.heldBack(nameIn(params)),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/pins',
      operation: 'acceptHeld',
      summary: 'Accept what is held back, as it was shown: with the digest of that answer.',
      body: 'HeldAnswer',
      answer: ref('Held'),
      fails: [404],
      handle: ({ params, body }) => host.acceptHeldBack(nameIn(params), String(body['digest'])),
    },
    ...loginRoutes(host, logins),
  ];
}

function startRoute(host: Host, verb: 'connect' | 'reconnect', summary: string): JsonRoute {
  return {
    method: 'POST',
    path: `/api/servers/{name}/${verb}`,
    operation: `${verb}Server`,
    summary,
    answer: ref('Server'),
    fails: [403, 404, 409, 502, 504],
    handle: async ({ params }) => {
      await host[verb](nameIn(params));
      return describeServer(host, nameIn(params));
    },
  };
}

function loginRoutes(host: Host, logins: WaitingLogins): readonly JsonRoute[] {
  /** A login reopens the connection; the response is its result. */
  const afterLogin = async (name: string): Promise<unknown> => {
    await host.connect(name).catch(() => {});
    return describeServer(host, name);
  };
  return [
    {
      method: 'POST',
      path: '/api/servers/{name}/auth',
      operation: 'startLogin',
      summary:
        'Begin a login. It ends by the redirect of the browser, or by auth/callback, within five minutes.',
      answer: object({ authorizationUrl: text }),
      fails: [404, 409, 502],
      handle: async ({ params }) => ({ authorizationUrl: await logins.begin(nameIn(params)) }),
    },
    {
      method: 'DELETE',
      path: '/api/servers/{name}/auth',
      operation: 'removeLogin',
      summary: 'Forget the login of a server, and give up one that waits.',
      answer: object({ name: text, removed: { type: 'boolean', description: 'False when there was none.' } }),
      fails: [404],
      handle: async ({ params }) => {
        const name = nameIn(params);
        logins.cancel(name);
        return { name, removed: await host.logout(name) };
      },
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/auth/callback',
      operation: 'finishLogin',
      summary: 'Finish a login with what the browser came back with.',
      body: 'LoginAnswer',
      answer: ref('Server'),
      fails: [404, 409, 502],
      handle: async ({ params, body, signal }) => {
        const { code, state, iss } = body as {
          readonly code: string;
          readonly state: string;
          readonly iss?: string;
        };
        await host.finishLogin(nameIn(params), { code, state, iss }, signal);
        return afterLogin(nameIn(params));
      },
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/auth/authenticate',
      operation: 'authenticate',
      summary: 'Begin a login, open the browser of this machine, and wait until it is done.',
      answer: ref('Server'),
      fails: [404, 409, 502],
      handle: async ({ params, signal }) => {
        await host.login(nameIn(params), { signal });
        return afterLogin(nameIn(params));
      },
    },
  ];
}

/** One server, with every scope that has it, and the next step. */
export async function describeServer(host: Host, name: string): Promise<object> {
  const { entry, file, credentials, terms, unapproved, ...report } = await host.describe(name);
  const origin = defined({ file, credentials, terms, unapproved });
  const places = host.management.entries.origins(name);
  return { ...shownServer(report, host.management), entry, ...origin, places };
}

/** Responds with a conflict if the entry differs from the one that was shown. */
async function approve(host: Host, name: string, digest: string): Promise<void> {
  try {
    await host.approve(name, digest);
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    throw error.code === 'USAGE' || error.code === 'UNTRUSTED' ? new HttpFailure(409, error) : error;
  }
}

function refuseTaken(host: Host, name: string, scope: EditableScope): void {
  const known = host.servers().find((server) => server.name === name);
  if (known?.scope === scope) throw taken(name, scope);
}

function taken(name: string, scope: EditableScope): HttpFailure {
  return new HttpFailure(
    409,
    new PlugboardError('USAGE', `There is a server called ${JSON.stringify(name)} in ${scope} scope`, {
      server: name,
      hint: 'Choose another name, or send "replace": true.',
    }),
  );
}

/** Every path with a name parameter has one. */
function nameIn(params: Readonly<Record<string, string>>): string {
  return params['name'] ?? '';
}
