/** OpenCode: `local` and `remote` servers under `mcp`, in its second version under `mcp.servers`. */

import { join } from 'node:path';
import { isRecord, valueAt } from '../../lib/json.ts';
import { configFolder, entriesAt, FIXED_REDIRECT, jsonFile } from './agent-files.ts';
import type { Agent, ForeignFile, ForeignScope } from './foreign-agent.ts';
import { BRACES } from './reference-dialect.ts';
import { scopeList, Translation } from './translation.ts';

const NAMES = ['opencode.json', 'opencode.jsonc'];

export const opencode: Agent = {
  id: 'opencode',
  title: 'OpenCode',

  files(where) {
    const { env, projectRoot } = where;
    const at = (folder: string, scope: ForeignScope, names: readonly string[]): ForeignFile[] =>
      names.map((name) => jsonFile(join(folder, name), scope));
    const own = env['OPENCODE_CONFIG'];
    return [
      ...at(projectRoot, 'project', NAMES),
      ...at(join(projectRoot, '.opencode'), 'project', NAMES),
      ...(own === undefined || own === '' ? [] : [jsonFile(own, 'user')]),
      ...at(join(configFolder(where), 'opencode'), 'user', [...NAMES, 'config.json']),
    ];
  },

  entries(value, file) {
    const first = entriesAt(value, ['mcp'], file.scope);
    return isSecondVersion(value)
      ? [
          ...first.filter(({ name }) => name !== 'servers'),
          ...entriesAt(value, ['mcp', 'servers'], file.scope),
        ]
      : first;
  },

  around(_server, settings) {
    const limit = settings
      .map(({ value }) => valueAt(value, ['experimental', 'mcp_timeout']))
      .find((value) => typeof value === 'number' && value > 0);
    return limit === undefined ? {} : { defaults: { toolTimeoutMs: limit } };
  },

  translate(raw) {
    const { type, command: written, url, timeout } = raw;
    const translation = new Translation(raw, BRACES)
      .ignoring('type')
      .texts('command', 'args')
      .pairs('environment', 'env')
      .text('cwd')
      .text('url')
      .pairs('headers')
      .value('enabled')
      .switchedOff('disabled')
      .value('timeout', 'startupTimeoutMs')
      .inside('oauth', 'oauth', (oauth) =>
        oauth
          .text('clientId')
          .text('client_id', 'clientId')
          .text('clientSecret')
          .text('client_secret', 'clientSecret')
          .value('scope', 'scopes', scopeList)
          .without('redirectUri', FIXED_REDIRECT),
      );
    const { entry } = translation;
    if (Array.isArray(entry['args'])) {
      const [command, ...args] = entry['args'];
      delete entry['args'];
      entry['command'] = command;
      if (args.length > 0) entry['args'] = args;
    }
    // OpenCode's limit applies to the start and to each call.
    if (typeof timeout === 'number') entry['toolTimeoutMs'] = timeout;
    if (type !== undefined && type !== 'local' && type !== 'remote') {
      translation.refuse('Its "type" is neither "local" nor "remote".');
    } else if (written !== undefined && !Array.isArray(written)) {
      translation.refuse('Its "command" is not a list of words.');
    } else if (written === undefined && url === undefined) {
      const missing = type === 'local' ? 'It has no "command".' : 'It has no "url".';
      const isSwitch = 'It only switches a server on or off that is configured elsewhere.';
      translation.refuse(type === undefined ? isSwitch : missing);
    }
    return translation.done();
  },

  placeOf: (value, name) => (isSecondVersion(value) ? ['mcp', 'servers', name] : ['mcp', name]),
  entryFor: ({ command, args, env }) => ({
    type: 'local',
    command: [command, ...args],
    ...(Object.keys(env).length === 0 ? {} : { environment: env }),
  }),
};

/** A server called `servers` has a type; the object of servers does not. */
function isSecondVersion(value: unknown): boolean {
  const servers = valueAt(value, ['mcp', 'servers']);
  return isRecord(servers) && typeof servers['type'] !== 'string';
}
