/** The routes for profiles: which there are, their changes, and a trial of a call. */

import { PROFILE_KEYS } from '../config/config-keys.ts';
import { change } from '../config/edit-config.ts';
import type { Settings } from '../config/entry.ts';
import type { Fault } from '../config/fault.ts';
import { object as objectOf } from '../config/kind.ts';
import { PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import { attempt } from '../lib/attempt.ts';
import { isRecord, type JsonObject, own, valueAt } from '../lib/json.ts';
import { readTokenFile, tokenFileOf } from '../serve/token-file.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref } from './api-schemas.ts';
import { HttpFailure, type JsonRoute, refusal } from './route.ts';

type ProfileParts = Pick<RouteParts, 'host' | 'home'>;

export function profileRoutes(parts: ProfileParts): readonly JsonRoute[] {
  const { host } = parts;
  const all = (): object => ({ profiles: profilesOf(parts) });
  const answer = object({ profiles: list(ref('Profile')) });
  return [
    {
      method: 'GET',
      path: '/api/profiles',
      operation: 'listProfiles',
      summary: 'The profiles of clients: their definition, servers, tools and clients.',
      answer,
      handle: all,
    },
    {
      method: 'POST',
      path: '/api/profiles',
      operation: 'addProfile',
      summary: 'Write a profile to config.json. An invalid one is refused, with the path of the problem.',
      body: 'NewProfile',
      status: 201,
      answer,
      fails: [409],
      handle: async ({ body, signal }) => {
        const { name, profile, replace } = body as unknown as NewProfile;
        checkDefinition(name, profile);
        const { home } = host.management;
        await change(home.config, { home, signal }, (root) => {
          if (valueAt(root, ['profiles', name]) !== undefined && replace !== true) throw taken(name);
          return { path: ['profiles', name], value: profile };
        });
        await host.reload(undefined, { settle: false });
        return all();
      },
    },
    {
      method: 'DELETE',
      path: '/api/profiles/{name}',
      operation: 'removeProfile',
      summary: 'Remove a profile; clients that have it are refused from then on.',
      answer,
      fails: [404],
      handle: async ({ params, signal }) => {
        const name = params['name'] ?? '';
        if (own(host.profiles.settings.profiles, name) === undefined)
          throw refusal(404, `There is no profile called ${JSON.stringify(name)}`);
        const { home } = host.management;
        await change(home.config, { home, signal }, () => ({ path: ['profiles', name], value: undefined }));
        await host.reload(undefined, { settle: false });
        return all();
      },
    },
    {
      method: 'POST',
      path: '/api/profiles/{name}/try',
      operation: 'tryProfile',
      summary: 'Whether a client with a profile may call a tool with these arguments; nothing is called.',
      body: 'TrialCall',
      answer: ref('Trial'),
      handle: ({ params, body }) => {
        const { tool, arguments: args = {} } = body as unknown as TrialCall;
        const session = host.session({ profile: params['name'] ?? '' });
        try {
          const state = session.approvalOf(tool, args);
          return { known: state !== undefined, ...state };
        } finally {
          session.end();
        }
      },
    },
  ];
}

function profilesOf({ host, home }: ProfileParts): readonly object[] {
  const { settings } = host.profiles;
  const names = new Set([...Object.keys(settings.profiles ?? {}), ...(settings.brokenProfiles ?? [])]);
  return [...names].map((name) => {
    const problem = host.profiles.problemOf(name);
    return {
      name,
      address: `/mcp/${encodeURIComponent(name)}`,
      definition: own(settings.profiles, name) ?? {},
      clients: clientsOf(settings, home, name),
      ...(problem === undefined ? usable(host, name) : { problem: problem.message }),
    };
  });
}

function usable(host: Host, name: string): object {
  const profile = attempt(() => host.profiles.usable(name), undefined);
  if (profile === undefined) return {};
  return {
    toolCount: profile.snapshot.tools.length,
    servers: host.servers().flatMap((server) => (profile.offersSome(server.name) ? [server.name] : [])),
  };
}

function clientsOf({ clients = {} }: Settings, home: RouteParts['home'], name: string): readonly string[] {
  const tokens = readTokenFile(tokenFileOf(home)).tokens.filter(({ profile }) => profile === name);
  const configured = Object.entries(clients).filter(([, { profile }]) => profile === name);
  return [...new Set([...tokens.map((token) => token.name), ...configured.map(([client]) => client)])];
}

function checkDefinition(name: string, profile: JsonObject): void {
  const faults: Fault[] = [];
  const isValid = objectOf(PROFILE_KEYS).check(profile, [], (fault) => faults.push(fault));
  const unknown = Object.keys(isRecord(profile) ? profile : {}).find((key) => !PROFILE_KEYS.has(key));
  const [fault] = faults;
  if (isValid && fault === undefined && unknown === undefined) return;
  throw new PlugboardError(
    'CONFIG_INVALID',
    `The profile ${JSON.stringify(name)} is invalid: ${fault?.message ?? `Unknown key ${JSON.stringify(unknown)}`}`,
    {
      hint: fault?.hint ?? 'Correct the definition and try again.',
      detail: { place: { path: fault?.path.map(String) ?? [unknown ?? ''] } },
    },
  );
}

function taken(name: string): HttpFailure {
  return new HttpFailure(
    409,
    new PlugboardError('USAGE', `There is a profile called ${JSON.stringify(name)}`, {
      hint: 'Choose another name, or replace it.',
    }),
  );
}

interface NewProfile {
  readonly name: string;
  readonly profile: JsonObject;
  readonly replace?: boolean;
}

interface TrialCall {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}
