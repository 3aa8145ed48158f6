/** Gemini CLI: `settings.json` for a user and for a project, with shell variables. */

import { join } from 'node:path';
import { isRecord, valueAt } from '../../lib/json.ts';
import { FIXED_REDIRECT, jsonFile, PLAIN_FILE, plainEntry } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { DOLLAR } from './reference-dialect.ts';
import { scopeList, Translation } from './translation.ts';

export const gemini: Agent = {
  id: 'gemini',
  title: 'Gemini CLI',

  files({ userHome, projectRoot }) {
    return [
      jsonFile(join(projectRoot, '.gemini', 'settings.json'), 'project'),
      jsonFile(join(userHome, '.gemini', 'settings.json'), 'user'),
    ];
  },

  ...PLAIN_FILE,

  // Written by `gemini mcp disable`.
  switchFiles: ({ userHome }) => [jsonFile(join(userHome, '.gemini', 'mcp-server-enablement.json'), 'user')],

  around({ name }, settings) {
    const excluded = settings.find(({ value }) => names(valueAt(value, ['mcp', 'excluded']))?.includes(name));
    if (excluded !== undefined) return { off: excluded.file.path };
    // The project's list replaces the user's.
    const allowing = settings.find(({ value }) => names(valueAt(value, ['mcp', 'allowed'])) !== undefined);
    const allowed = names(valueAt(allowing?.value, ['mcp', 'allowed']));
    if (allowing !== undefined && allowed?.includes(name) === false) return { off: allowing.file.path };
    const switched = settings.find(
      ({ file, value }) =>
        file.path.endsWith('mcp-server-enablement.json') &&
        valueAt(value, [name.toLowerCase().trim(), 'enabled']) === false,
    );
    return { off: switched?.file.path };
  },

  translate(raw) {
    const translation = new Translation(raw, DOLLAR);
    // Gemini uses `httpUrl` if both are set.
    if (raw['httpUrl'] !== undefined) {
      translation.ignoring('url', 'type').text('httpUrl', 'url').entry['type'] = 'http';
    } else if (raw['url'] !== undefined) {
      translation.text('url').entry['type'] = 'sse';
      translation.value('type');
    }
    return translation
      .program()
      .text('cwd')
      .pairs('headers')
      .value('timeout', 'toolTimeoutMs')
      .value('trust', 'approval', (trust) => (trust === true ? 'approve' : undefined))
      .value('includeTools', 'enabledTools')
      .value('excludeTools', 'disabledTools')
      .inside('oauth', 'oauth', (oauth) =>
        oauth
          .ignoring('enabled')
          .text('clientId')
          .text('clientSecret')
          .text('authorizationUrl')
          .text('tokenUrl')
          .value('scopes', 'scopes', scopeList)
          .without('redirectUri', FIXED_REDIRECT)
          .without('audiences', 'The server itself names the resource of a login.'),
      )
      .without('tcp', 'Plugboard speaks no WebSocket.')
      .without('authProviderType', 'Credentials of Google Cloud come from "headersHelper" here.')
      .ignoring('description', 'extension')
      .done();
  },

  // Variables with names like *TOKEN* or *KEY* are withheld from servers unless `env` names them. An unset one would
  // arrive as the text "$NAME", so only those that are set now are named.
  entryFor: (program) => {
    const named = (program.variables ?? []).flatMap(({ name, isSet }) => (isSet ? [[name, `$${name}`]] : []));
    return plainEntry({ ...program, env: { ...program.env, ...Object.fromEntries(named) } });
  },
  variablesIn: ({ env }) =>
    Object.entries(isRecord(env) ? env : {}).flatMap(([name, value]) => (value === `$${name}` ? [name] : [])),
};

function names(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
