/** Codex: tables of `config.toml`, for a user and for a project; all strings literal. */

import { join } from 'node:path';
import { isRecord } from '../../lib/json.ts';
import { entriesAt, plainEntry } from './agent-files.ts';
import type { Agent, ForeignFile } from './foreign-agent.ts';
import { LITERAL } from './reference-dialect.ts';
import { Translation } from './translation.ts';

export const codex: Agent = {
  id: 'codex',
  title: 'Codex',

  files({ env, userHome, projectRoot }) {
    const file = (folder: string, scope: ForeignFile['scope']): ForeignFile => ({
      path: join(folder, 'config.toml'),
      format: 'toml',
      scope,
    });
    return [
      file(env['CODEX_HOME'] || join(userHome, '.codex'), 'user'),
      file(join(projectRoot, '.codex'), 'project'),
    ];
  },

  entries: (value, file) => entriesAt(value, ['mcp_servers'], file.scope),

  translate(raw) {
    const translation = new Translation(raw, LITERAL)
      .program()
      .value('env_vars', 'envVars', variableNames)
      .text('cwd')
      .text('url')
      .pairs('http_headers', 'headers')
      .value('env_http_headers', 'headersFromEnv')
      .value('http_headers_helper', 'headersHelper')
      .value('bearer_token_env_var', 'bearerTokenEnvVar')
      .without('bearer_token', 'Codex itself refuses it; put the token into a variable or ${input:id}.')
      .value('enabled')
      .value('required')
      .seconds('startup_timeout_sec', 'startupTimeoutMs')
      .value('startup_timeout_ms', 'startupTimeoutMs')
      .seconds('tool_timeout_sec', 'toolTimeoutMs')
      .value('enabled_tools', 'enabledTools')
      .value('disabled_tools', 'disabledTools')
      .value('default_tools_approval_mode', 'approval')
      .value('tools', 'tools', toolSettings)
      .inside('oauth', 'oauth', (oauth) =>
        oauth.text('client_id', 'clientId').value('callback_port', 'callbackPort'),
      )
      .without('oauth_resource', 'The server itself names the resource of a login.')
      .ignoring('supports_parallel_tool_calls', 'environment_id', 'experimental_environment');
    const { scopes } = raw;
    if (Array.isArray(scopes)) {
      const { oauth } = translation.entry;
      translation.ignoring('scopes').entry['oauth'] = { ...(isRecord(oauth) ? oauth : {}), scopes };
    }
    return translation.done();
  },

  placeOf: (_value, name) => ['mcp_servers', name],
  // Codex passes on a few variables by default, and those that are named here; an unset one is omitted.
  entryFor: (program) => {
    const names = (program.variables ?? []).map(({ name }) => name).filter((name) => !HANDED_ON.has(name));
    return { ...plainEntry(program), ...(names.length === 0 ? {} : { env_vars: names }) };
  },
  variablesIn: ({ env_vars: names }) =>
    Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
};

/** Variables that Codex passes to every server. */
const HANDED_ON: ReadonlySet<string> = new Set(
  ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'].concat(
    '__CF_USER_TEXT_ENCODING',
  ),
);

/** Accepts a name, or a name with its source: ours always come from our own environment. */
function variableNames(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item) => (isRecord(item) ? item['name'] : item)) : value;
}

function toolSettings(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const settings = Object.entries(value).flatMap(([tool, each]) =>
    isRecord(each) && each['approval_mode'] !== undefined
      ? [[tool, { approval: each['approval_mode'] }] as const]
      : [],
  );
  return settings.length === 0 ? undefined : Object.fromEntries(settings);
}
