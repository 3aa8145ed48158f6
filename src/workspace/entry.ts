/** The workspace server as an entry of the configuration: a process of our own command, and what it is known to offer. */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CachedList, parseCachedList } from '../catalog/cache.ts';
import type { ServerEntry, ServerSpec, Settings } from '../config/entry.ts';
import type { BuiltIn } from '../config/load.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { GIT_VARIABLES } from './workspace-server.ts';

/** What it is called where the person has not called it otherwise. */
export const WORKSPACE_NAME = 'workspace';

/** Not a constant: a CommonJS bundle of an agent has no address, and `new URL` throws there. */
function commandFile(): string {
  return fileURLToPath(new URL('../bin/plugboard.cjs', import.meta.url));
}

/** Its list of tools, written when the command is built (`scripts/bundle.mjs`); sources have none. */
function listFile(): URL {
  return new URL('../bin/workspace-tools.json', import.meta.url);
}

/** The tool that is there with `--shell` only. */
const SHELL = 'shell';

/**
 * The built-in server of a host that serves agents, most of which have file tools of their own. `wanted`: true or false
 * as `--workspace` and `--no-workspace` say; undefined: only if `workspace` is set in config.json.
 */
export function servedWorkspace(wanted: boolean | undefined): BuiltIn | undefined {
  if (wanted === undefined)
    return (settings) => (settings.workspace === undefined ? {} : workspaceEntries(settings));
  return wanted ? workspaceEntries : undefined;
}

/** The entry for the project that a host is made in; none if the setting is false. */
export function workspaceEntries({ workspace = true }: Settings): Readonly<Record<string, ServerEntry>> {
  if (workspace === false) return {};
  const shell = workspace !== true && workspace.shell === true;
  const entry: ServerEntry = {
    command: process.execPath,
    args: [commandFile(), 'workspace', '${PROJECT_DIR}', ...(shell ? ['--shell'] : [])],
    // Its shell is the person's own: with the project's programs on its search path.
    ...(shell ? { env: { PATH: '${PATH:-}' } } : {}),
    envVars: GIT_VARIABLES,
    // Its annotations are ours.
    trusted: true,
    // It changes with Plugboard itself, and with nothing else.
    pins: 'off',
    ...(shell ? { tools: { shell: { approval: 'prompt' } } } : {}),
  };
  return { [WORKSPACE_NAME]: entry };
}

/**
 * What the server of such an entry offers, without asking it: most sessions never use it, and it would be a process
 * of 45 MB for each of them.
 */
export async function workspaceList({ entry }: ServerSpec): Promise<CachedList | undefined> {
  const args = 'command' in entry ? (entry.args ?? []) : [];
  if (args[0] !== commandFile() || args[1] !== 'workspace') return undefined;
  const list = parseCachedList(await readFile(listFile(), 'utf8').catch(() => ''));
  if (list === undefined || args.includes('--shell')) return list;
  return { ...list, items: list.items.filter((item) => !(isRecord(item) && item['name'] === SHELL)) };
}
