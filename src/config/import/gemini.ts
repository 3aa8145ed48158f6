/** Gemini CLI: `settings.json` for a person and for a project, with a shell's variables. */

import { join } from 'node:path';
import { isRecord } from '../../lib/json-rpc.ts';
import type { Agent } from './agent.ts';
import { DOLLAR } from './dialect.ts';
import { entriesAt, jsonFile } from './files.ts';
import { plainEntry, plainPlace } from './plain-entry.ts';
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

  entries: (value, file) => entriesAt(value, ['mcpServers'], file.scope),

  translate(raw) {
    const translation = new Translation(raw, DOLLAR);
    // Of two addresses the newer transport's counts there.
    if (raw['httpUrl'] !== undefined) {
      translation.ignoring('url', 'type').text('httpUrl', 'url').entry['type'] = 'http';
    } else if (raw['url'] !== undefined) {
      translation.text('url').entry['type'] = 'sse';
      translation.value('type');
    }
    return translation
      .text('command')
      .texts('args')
      .pairs('env')
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
          .without(
            'redirectUri',
            'Plugboard listens on 127.0.0.1; a fixed port is "callbackPort" under "oauth".',
          )
          .without('audiences', 'The server itself says which resource a login is for.'),
      )
      .without('tcp', 'Plugboard speaks no WebSocket.')
      .without('authProviderType', 'Credentials of Google Cloud come from "headersHelper" here.')
      .ignoring('description', 'extension')
      .done();
  },

  placeOf: plainPlace,
  // Variables with names like *TOKEN* or *KEY* are withheld from servers unless `env` names them. One that is not set
  // would arrive as the text "$NAME", so only those that are set now are named.
  entryFor: (program) => {
    const named = (program.variables ?? []).flatMap(({ name, isSet }) => (isSet ? [[name, `$${name}`]] : []));
    return plainEntry({ ...program, env: { ...program.env, ...Object.fromEntries(named) } });
  },
  variablesIn: ({ env }) =>
    Object.entries(isRecord(env) ? env : {}).flatMap(([name, value]) => (value === `$${name}` ? [name] : [])),
};
