/** What of a session's environment its servers can see: only this decides whom it may share them with. */

import type { LoadedConfig } from '../config/load.ts';
import { partsOf } from '../config/reference.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { childEnvironment } from '../transport/environment.ts';

/** Read by the host itself, or by what it starts for a login. */
const OURS =
  /^(?:PLUGBOARD_|OTEL_)|^(?:ENABLE_TOOL_SEARCH|MAX_MCP_OUTPUT_TOKENS|BROWSER|DBUS_SESSION_BUS_ADDRESS)$/;

/** How the terminal looks: differs from window to window, and no server has one. */
const LOOKS: ReadonlySet<string> = new Set(['TERM', 'COLORTERM']);

/** The daemon is of one home, whichever way its clients have found it. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set(['PLUGBOARD_HOME']);

/** About this session and no other; a server that is shared by several must not be told apart by it. */
const NEVER: ReadonlySet<string> = new Set(['PLUGBOARD_DAEMON', 'PLUGBOARD_OWNER']);

/**
 * Every variable that some server of this configuration is given, refers to or has named, and no other. With
 * `inheritEnv` or a `headersHelper` that is all of them.
 */
export function visibleEnvironment(
  config: Pick<LoadedConfig, 'servers'>,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const named = new Set<string>();
  for (const { raw } of config.servers) collectNames(raw, named);
  const all = config.servers.some(
    ({ entry }) => 'headersHelper' in entry || ('inheritEnv' in entry && entry.inheritEnv === true),
  );
  const passed = childEnvironment({}, env);
  const visible = Object.entries(env).filter(
    ([name]) => !NEVER.has(name) && (all || name in passed || OURS.test(name) || named.has(name)),
  );
  return Object.fromEntries(visible);
}

/** The part of it that has to be the same for two sessions to share. */
export function environmentKey(visible: NodeJS.ProcessEnv): readonly (readonly [string, string])[] {
  return Object.entries(visible)
    .flatMap(([name, value]) =>
      value === undefined || LOOKS.has(name) || SAME_FOR_ALL.has(name) ? [] : [[name, value] as const],
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `${NAME}` anywhere, and every text that could be a name: `envVars`, `bearerTokenEnvVar`, grants. */
function collectNames(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') {
    names.add(value);
    for (const part of partsOf(value)) if (part.kind === 'variable') names.add(part.name);
  } else if (Array.isArray(value)) {
    for (const item of value) collectNames(item, names);
  } else if (isRecord(value)) {
    for (const item of Object.values(value)) collectNames(item, names);
  }
}
