/** The formats that files of several agents share: their folders, servers by name under one key, and entries. */

import { join } from 'node:path';
import { isRecord, type JsonObject, valueAt } from '../../lib/json.ts';
import type { Agent, ForeignEntry, ForeignFile, ForeignScope, Program, Where } from './foreign-agent.ts';
import { type Dialect, EDITOR } from './reference-dialect.ts';
import { Translation } from './translation.ts';

export function jsonFile(path: string, scope: ForeignScope): ForeignFile {
  return { path, format: 'json', scope };
}

/** Returns the settings folder of a desktop application. */
export function applicationFolder({ env, platform, userHome }: Where, name: string): string {
  if (platform === 'darwin') return join(userHome, 'Library', 'Application Support', name);
  if (platform === 'win32') return join(env['APPDATA'] || join(userHome, 'AppData', 'Roaming'), name);
  return join(configFolder({ env, userHome }), name);
}

/** Returns the settings folder of a command-line program. */
export function configFolder({ env, userHome }: Pick<Where, 'env' | 'userHome'>): string {
  return env['XDG_CONFIG_HOME'] || join(userHome, '.config');
}

/** Returns the servers by name at one path of a file. */
export function entriesAt(value: JsonObject, path: readonly string[], scope: ForeignScope): ForeignEntry[] {
  const servers = valueAt(value, path);
  if (!isRecord(servers)) return [];
  return Object.entries(servers).map(([name, entry]) => ({
    name,
    value: entry,
    scope,
    path: [...path, name],
  }));
}

export function plainEntry({ command, args, env }: Program): JsonObject {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

/** Files with entries by name under `mcpServers`. */
export const PLAIN_FILE: Pick<Agent, 'entries' | 'placeOf' | 'entryFor'> = {
  entries: (value, file) => entriesAt(value, ['mcpServers'], file.scope),
  placeOf: (_value, name) => ['mcpServers', name],
  entryFor: plainEntry,
};

export const FIXED_REDIRECT = 'Plugboard listens on 127.0.0.1; a fixed port is "callbackPort" under "oauth".';
export const NO_ENV_FILE = 'Plugboard reads no such files; name its variables under "env" or "envVars".';

/** Translates the keys of a program or URL; the remaining keys are specific to each editor. */
export function editorTranslation(raw: JsonObject, dialect: Dialect = EDITOR): Translation {
  return new Translation(raw, dialect).value('type').program().text('cwd').text('url').pairs('headers');
}
