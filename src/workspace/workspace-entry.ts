/** The configuration entry of the workspace server: a process of this package's program, or an in-process server. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CachedList, parseCachedList } from '../catalog/catalog-cache.ts';
import type {
  EntryBase,
  InProcessEntry,
  Sandbox,
  ServerEntry,
  ServerSpec,
  Settings,
  StdioEntry,
} from '../config/entry.ts';
import { findProjectRoot } from '../config/home.ts';
import type { InProcessServer } from '../config/in-process.ts';
import type { BuiltIn } from '../config/load.ts';
import { isRecord } from '../lib/json.ts';

/** The default name of the server. */
export const WORKSPACE_NAME = 'workspace';
/** The tool that exists only with `--shell`. */
const SHELL = 'shell';
const PROJECT = '${PROJECT_DIR}';

/** Variables for the author, the committer and signing. */
const GIT_VARIABLES: readonly string[] = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CONFIG_GLOBAL',
  'GNUPGHOME',
  'SSH_AUTH_SOCK',
];

/** Keys of an entry that do not depend on how the server is started. */
type EntryKeys = Omit<EntryBase, 'pins' | 'sandbox' | 'unapproved'>;

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
  return { [WORKSPACE_NAME]: { ...permissions(shell, {}), ...processOf(builtProgram(), PROJECT, shell) } };
}

/**
 * Returns the tools of such an entry without a connection: most sessions never use the server, and it would be a
 * process of 45 MB for each of them.
 */
export async function workspaceList({ entry }: ServerSpec): Promise<CachedList | undefined> {
  const args = 'command' in entry ? (entry.args ?? []) : [];
  if (args[0] !== builtProgram() || args[1] !== 'workspace') return undefined;
  const list = parseCachedList(await readFile(listFile(), 'utf8').catch(() => ''));
  if (list === undefined || args.includes('--shell')) return list;
  return { ...list, items: list.items.filter((item) => !(isRecord(item) && item['name'] === SHELL)) };
}

/** Trusted, because we wrote its annotations; the shell asks before each call. Given keys take precedence. */
function permissions(shell: boolean, given: EntryKeys): EntryKeys {
  const tools = shell ? { [SHELL]: { approval: 'prompt' as const }, ...given.tools } : given.tools;
  return { trusted: true, ...given, ...(tools === undefined ? {} : { tools }) };
}

/** Returns the part of the entry that starts the server as a process. */
function processOf(program: string, root: string, shell: boolean): StdioEntry {
  const env = {
    // The shell gets the user's full search path, including programs of the project.
    ...(shell ? { PATH: '${PATH:-}' } : {}),
    // The binary of an Electron app runs as Node only with this variable.
    ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
  };
  return {
    command: process.execPath,
    args: [program, 'workspace', root, ...(shell ? ['--shell'] : [])],
    ...(Object.keys(env).length === 0 ? {} : { env }),
    envVars: GIT_VARIABLES,
    // It changes only with Plugboard itself.
    pins: 'off',
  };
}

/** The program of this package. A function, because `import.meta.url` is undefined in bundles and `new URL` throws. */
function builtProgram(): string {
  return fileURLToPath(new URL('../bin/plugboard.cjs', import.meta.url));
}

/** Its list of tools, written when the command is built (`scripts/bundle.mjs`); absent when run from the sources. */
function listFile(): URL {
  return new URL('../bin/workspace-tools.json', import.meta.url);
}

/** Options of `workspaceServer`. */
export interface WorkspaceServerOptions extends EntryKeys {
  /** The folder that its tools are confined to; default: the project of the host. */
  readonly root?: string | undefined;
  /** Whether it also has the shell tool, which requires approval for each call, and git may run hooks. */
  readonly shell?: boolean | undefined;
  /** Limits of files and network for its process. */
  readonly sandbox?: Sandbox | undefined;
}

/**
 * Returns an entry for the server with the tools of a coding agent: read, write, edit, list, glob, grep and git for one
 * folder. It needs neither `npx` nor a command on the PATH. In a bundle or a single executable, where the package's
 * program does not exist, the server runs in this process. Other keys of an entry can be given too.
 *
 * @param options - The folder, whether there is a shell, and other keys of an entry.
 * @returns An entry for `createHost({ servers })`.
 * @example
 * const host = await createHost({ servers: { files: workspaceServer({ root: '/home/ada/app' }) } });
 */
export function workspaceServer(options: WorkspaceServerOptions = {}): StdioEntry | InProcessEntry {
  const { root, shell = false, sandbox, ...given } = options;
  const base = permissions(shell, given);
  const program = installedProgram();
  if (program === undefined) return { ...base, inProcess: () => serveHere(root, shell) };
  return {
    ...base,
    ...processOf(program, root ?? PROJECT, shell),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

/** Returns the program if it exists; undefined in a bundle without it, and if this process is not a Node to run it. */
function installedProgram(): string | undefined {
  const sea = process.getBuiltinModule?.('node:sea');
  if (sea?.isSea() === true) return undefined;
  // `import.meta.url` is undefined in a CommonJS bundle.
  const here: unknown = import.meta.url;
  if (typeof here !== 'string' || !here.startsWith('file:')) return undefined;
  // The second path: when run from the sources, the program of the last build.
  const candidates = ['../bin/plugboard.cjs', '../../dist/bin/plugboard.cjs'];
  return candidates.map((path) => fileURLToPath(new URL(path, here))).find((file) => existsSync(file));
}

async function serveHere(root: string | undefined, shell: boolean): Promise<InProcessServer> {
  const { createWorkspaceServer } = await import('./workspace-server.ts');
  const { server, close } = createWorkspaceServer({
    root: root ?? findProjectRoot(process.cwd()),
    shell,
    searchPath: process.env['PATH'] ?? '',
  });
  return {
    serve: (channel) => server.serve(channel),
    close: async () => {
      close();
      await server.close();
    },
  } as InProcessServer;
}
