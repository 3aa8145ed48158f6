/** Helpers for the files of several agents: their folders, and servers by name under one key. */

import { join } from 'node:path';
import { isRecord } from '../../lib/json.ts';
import { valueAt } from '../value-at.ts';
import type { ForeignEntry, ForeignFile, ForeignScope, Where } from './foreign-agent.ts';

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
export function entriesAt(
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  scope: ForeignScope,
): ForeignEntry[] {
  const servers = valueAt(value, path);
  if (!isRecord(servers)) return [];
  return Object.entries(servers).map(([name, entry]) => ({
    name,
    value: entry,
    scope,
    path: [...path, name],
  }));
}
