/** pi with its MCP adapter: `mcp.json` of pi, and the files that it shares with other programs. */

import { join } from 'node:path';
import { configFolder, FIXED_REDIRECT, jsonFile, PLAIN_FILE } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { PI } from './reference-dialect.ts';
import { scopeList, Translation } from './translation.ts';

const LIFECYCLES = ['lazy', 'eager', 'keep-alive'];
const NO_COMMANDS = 'Plugboard takes no command for a single value; "headersHelper" prints headers.';

export const pi: Agent = {
  id: 'pi',
  title: 'pi',

  files(where) {
    const { env, userHome, projectRoot } = where;
    return [
      jsonFile(join(projectRoot, '.pi', 'mcp.json'), 'project'),
      jsonFile(join(env['PI_CODING_AGENT_DIR'] || join(userHome, '.pi', 'agent'), 'mcp.json'), 'user'),
      { ...jsonFile(join(configFolder(where), 'mcp', 'mcp.json'), 'user'), readOnly: true },
    ];
  },

  translate(raw) {
    const translation = new Translation(raw, PI)
      .value('type')
      .program()
      .value('inheritEnv')
      .text('cwd')
      .text('url')
      .pairs('headers')
      .value('bearerTokenEnv', 'bearerTokenEnvVar')
      .value('auth', 'oauth', (auth) => (auth === 'oauth' ? true : undefined))
      .inside('oauth', 'oauth', (oauth) =>
        oauth
          .text('clientId')
          .text('clientSecret')
          .value('scope', 'scopes', scopeList)
          .without('grantType', 'Write it as "grant" under "oauth"; see docs/logging-in.md.')
          .without('redirectUri', FIXED_REDIRECT)
          .ignoring('clientName', 'clientUri', 'logoUri'),
      )
      .without('requestHeadersCommand', NO_COMMANDS)
      .without('socket', 'Plugboard connects to no sockets.')
      .value('lifecycle', 'lifecycle', (value) =>
        typeof value === 'string' && LIFECYCLES.includes(value) ? value : undefined,
      )
      .value('requestTimeoutMs', 'toolTimeoutMs', (value) => (isPositive(value) ? value : undefined))
      .value('directTools', 'alwaysLoad', (value) => (value === true ? true : undefined))
      .value('includeTools', 'enabledTools')
      .value('excludeTools', 'disabledTools')
      .switchedOff('disabled')
      .ignoring('bearerToken', 'debug', 'trace', 'idleTimeout', 'protocolVersion', 'exposeResources')
      .ignoring('toolPrefix', 'searchKeywords');
    addBearerToken(raw['bearerToken'], translation);
    withoutCommands(translation, 'env');
    withoutCommands(translation, 'headers');
    return translation.done();
  },

  ...PLAIN_FILE,
};

/** Translates a literal token to a header. */
function addBearerToken(token: unknown, translation: Translation): void {
  if (typeof token !== 'string' || token === '') return;
  const { headers } = translation.entry;
  const words = new Translation({ token }, PI).text('token').done().entry['token'];
  const sent = String(words).startsWith('!') ? words : `Bearer ${String(words)}`;
  translation.entry['headers'] = { ...(typeof headers === 'object' ? headers : {}), Authorization: sent };
}

/** In pi a leading `!` runs a command; `!!` is a literal `!`. */
function withoutCommands(translation: Translation, key: 'env' | 'headers'): void {
  const pairs = translation.entry[key];
  if (typeof pairs !== 'object' || pairs === null) return;
  const kept = Object.entries(pairs).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value !== 'string' || !value.startsWith('!')) return [[name, value]];
    if (value.startsWith('!!')) return [[name, value.slice(1)]];
    translation.lose(`${key}.${name}`, NO_COMMANDS);
    return [];
  });
  if (kept.length > 0) translation.entry[key] = Object.fromEntries(kept);
  else delete translation.entry[key];
}

function isPositive(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) > 0;
}
