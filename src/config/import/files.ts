/** Shapes of foreign files that several agents share: where their folders are, and servers by name under one key. */

import { join } from 'node:path';
import { isRecord } from '../../lib/json-rpc.ts';
import { valueAt } from '../value-at.ts';
import type { ForeignEntry, ForeignFile, ForeignScope, Where } from './agent.ts';

export function jsonFile(path: string, scope: ForeignScope): ForeignFile {
  return { path, format: 'json', scope };
}

/** Where programs with a window keep what belongs to a person. */
export function applicationFolder({ env, platform, userHome }: Where, name: string): string {
  if (platform === 'darwin') return join(userHome, 'Library', 'Application Support', name);
  if (platform === 'win32') return join(env['APPDATA'] || join(userHome, 'AppData', 'Roaming'), name);
  return join(configFolder({ env, userHome }), name);
}

/** Where programs without one do. */
export function configFolder({ env, userHome }: Pick<Where, 'env' | 'userHome'>): string {
  return env['XDG_CONFIG_HOME'] || join(userHome, '.config');
}

/** Servers by name at one place of a file. */
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
