/** The configuration entry of the workspace server: a process of our own command, and its known list of tools. */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CachedList, parseCachedList } from '../catalog/catalog-cache.ts';
import type { ServerEntry, ServerSpec, Settings } from '../config/entry.ts';
import type { BuiltIn } from '../config/load.ts';
import { isRecord } from '../lib/json.ts';
import { GIT_VARIABLES } from './workspace-server.ts';

/** The default name of the server. */
export const WORKSPACE_NAME = 'workspace';

/** A function, not a constant: `import.meta.url` is undefined in a CommonJS bundle, and `new URL` throws there. */
function commandFile(): string {
  return fileURLToPath(new URL('../bin/plugboard.cjs', import.meta.url));
}

/** Its list of tools, written when the command is built (`scripts/bundle.mjs`); absent when run from the sources. */
function listFile(): URL {
  return new URL('../bin/workspace-tools.json', import.meta.url);
}

/** The tool that exists only with `--shell`. */
const SHELL = 'shell';

/**
 * Returns the built-in server of a host that serves agents, most of which have their own file tools. `wanted`: true for
 * `--workspace`, false for `--no-workspace`; undefined: only if `workspace` is set in config.json.
 */
export function servedWorkspace(wanted: boolean | undefined): BuiltIn | undefined {
  if (wanted === undefined)
    return (settings) => (settings.workspace === undefined ? {} : workspaceEntries(settings));
  return wanted ? workspaceEntries : undefined;
}

/** Returns the entry for the project of a host; none if the setting is false. */
export function workspaceEntries({ workspace = true }: Settings): Readonly<Record<string, ServerEntry>> {
  if (workspace === false) return {};
  const shell = workspace !== true && workspace.shell === true;
  const entry: ServerEntry = {
    command: process.execPath,
    args: [commandFile(), 'workspace', '${PROJECT_DIR}', ...(shell ? ['--shell'] : [])],
    // The shell gets the user's full search path, including programs of the project.
    ...(shell ? { env: { PATH: '${PATH:-}' } } : {}),
    envVars: GIT_VARIABLES,
    // We wrote its annotations.
    trusted: true,
    // It changes only with Plugboard itself.
    pins: 'off',
    ...(shell ? { tools: { shell: { approval: 'prompt' } } } : {}),
  };
  return { [WORKSPACE_NAME]: entry };
}

/**
 * Returns the tools of such an entry without a connection: most sessions never use the server, and it would be a
 * process of 45 MB for each of them.
 */
export async function workspaceList({ entry }: ServerSpec): Promise<CachedList | undefined> {
  const args = 'command' in entry ? (entry.args ?? []) : [];
  if (args[0] !== commandFile() || args[1] !== 'workspace') return undefined;
  const list = parseCachedList(await readFile(listFile(), 'utf8').catch(() => ''));
  if (list === undefined || args.includes('--shell')) return list;
  return { ...list, items: list.items.filter((item) => !(isRecord(item) && item['name'] === SHELL)) };
}
