/** The routes for access: what this page is about, how agents connect, and their tokens. */

import { join } from 'node:path';
import { PROJECT_FILE } from '../config/load.ts';
import { isChain, profileChain } from '../config/profiles.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { durationMs } from '../lib/duration.ts';
import { readVersion } from '../lib/version.ts';
import { connectLines, localLines } from '../serve/connect-lines.ts';
import { addToken, readTokenFile, revokeToken, tokenFileOf } from '../serve/token-file.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { textIn } from './query-values.ts';
import { type JsonRoute, refusal } from './route.ts';

/** In place of a token, which is shown only once, when it is made. */
const NO_TOKEN = '<token>';

type AccessParts = Pick<RouteParts, 'host' | 'traffic' | 'home' | 'port'>;

export function accessRoutes(parts: AccessParts): readonly JsonRoute[] {
  const { host, traffic, home } = parts;
  const tokens = (): object => ({ tokens: listed(home) });
  return [
    {
      method: 'GET',
      path: '/api/about',
      operation: 'getAbout',
      summary: 'What this page is about: version, project, files, and where MCP is served.',
      answer: ref('About'),
      handle: () => {
        const { config, setup } = host.management;
        const url = urlOf(parts);
        return {
          version: readVersion(),
          run: traffic.run,
          folder: config.projectRoot,
          home: setup.home.dir,
          firstRun: config.servers.every(({ builtIn }) => builtIn === true),
          files: { config: setup.home.config, project: join(config.projectRoot, PROJECT_FILE) },
          ...(url === undefined ? {} : { url }),
        };
      },
    },
    {
      method: 'GET',
      path: '/api/connect',
      operation: 'getConnectLines',
      summary: 'The lines that connect each known agent: over stdio, and over HTTP with a token.',
      query: { profile: { type: 'string', description: 'The profile that the agent gets.' } },
      answer: object({ local: list(ref('ConnectLines')), remote: list(ref('ConnectLines')) }),
      handle: ({ query }) => {
        const profile = textIn(query, 'profile');
        const url = urlOf(parts, profile) ?? '<address>';
        return { local: localLines(profile), remote: connectLines({ url, token: NO_TOKEN }) };
      },
    },
    {
      method: 'GET',
      path: '/api/tokens',
      operation: 'listTokens',
      summary: 'The tokens of agents, without their text.',
      answer: object({ tokens: list(ref('Token')) }),
      handle: tokens,
    },
    {
      method: 'POST',
      path: '/api/tokens',
      operation: 'addToken',
      summary: 'Make a token for an agent. Its text is in this response only.',
      body: 'NewToken',
      status: 201,
      answer: object(
        { name: text, token: text, connect: list(ref('ConnectLines')) },
        { profile: text, expires: { type: 'number' } },
      ),
      handle: async ({ body }) => {
        const { name, profile, expires: lifetime } = body as unknown as NewToken;
        const now = Date.now();
        const ms = lifetime === undefined ? undefined : durationMs(lifetime);
        if (lifetime !== undefined && ms === undefined)
          throw new PlugboardError('INVALID_ARGUMENTS', `${JSON.stringify(lifetime)} is not a time`, {
            hint: 'Write it as 30d, 12h, 45m, 90s or 2w.',
            detail: { place: { path: ['expires'] } },
          });
        if (profile !== undefined) checkProfile(parts, profile);
        const expires = ms === undefined ? undefined : now + ms;
        const { token } = await addToken(home, name, { now, expires, profile });
        const url = urlOf(parts) ?? '<address>';
        return { name, token, connect: connectLines({ url, token }), ...defined({ profile, expires }) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/tokens/{name}',
      operation: 'removeToken',
      summary: 'Revoke a token, and end the sessions of its agent.',
      answer: object({ tokens: list(ref('Token')) }),
      fails: [404],
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        if (!listed(home).some((token) => token.name === name))
          throw refusal(404, `There is no token named ${JSON.stringify(name)}`);
        await revokeToken(home, name);
        return tokens();
      },
    },
  ];
}

function listed(home: RouteParts['home']): readonly { readonly name: string }[] {
  const now = Date.now();
  return readTokenFile(tokenFileOf(home)).tokens.map(({ name, created, expires, profile }) => ({
    name,
    created,
    expired: expires !== undefined && expires <= now,
    ...defined({ expires, profile }),
  }));
}

function checkProfile({ host }: AccessParts, name: string): void {
  const found = profileChain(host.profiles.settings, name);
  if (!isChain(found))
    throw new PlugboardError('CONFIG_INVALID', found.message, {
      hint: found.hint,
      detail: { place: { path: ['profile'] } },
    });
}

function urlOf({ port }: AccessParts, profile?: string): string | undefined {
  const at = port();
  const path = profile === undefined ? '/mcp' : `/mcp/${encodeURIComponent(profile)}`;
  return at === undefined ? undefined : `http://127.0.0.1:${at}${path}`;
}

interface NewToken {
  readonly name: string;
  readonly profile?: string;
  readonly expires?: string;
}
