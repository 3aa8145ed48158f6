/** The entry of the workspace server for any folder: a process of this package's program, or an in-process server. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EntryBase, InProcessEntry, Sandbox, StdioEntry } from '../config/entry.ts';
import { findProjectRoot } from '../config/home.ts';
import type { InProcessServer } from '../config/in-process.ts';

/** Variables for the author, the committer and signing. */
export const GIT_VARIABLES: readonly string[] = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CONFIG_GLOBAL',
  'GNUPGHOME',
  'SSH_AUTH_SOCK',
];

/** Options of `workspaceServer`. */
export interface WorkspaceServerOptions extends Omit<EntryBase, 'pins' | 'sandbox' | 'unapproved'> {
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
  const tools = shell ? { shell: { approval: 'prompt' as const }, ...given.tools } : given.tools;
  const entry = { trusted: true, ...given, ...(tools === undefined ? {} : { tools }) };
  const program = programFile();
  if (program === undefined) return { ...entry, inProcess: () => serveHere(root, shell) };
  const env = {
    // The shell gets the user's full search path, including programs of the project.
    ...(shell ? { PATH: '${PATH:-}' } : {}),
    // The binary of an Electron app runs as Node only with this variable.
    ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
  };
  return {
    ...entry,
    command: process.execPath,
    args: [program, 'workspace', root ?? '${PROJECT_DIR}', ...(shell ? ['--shell'] : [])],
    ...(Object.keys(env).length === 0 ? {} : { env }),
    envVars: GIT_VARIABLES,
    // It changes only with Plugboard itself.
    pins: 'off',
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

/**
 * Returns the program of this package; undefined in a bundle without it, and if this process is not a Node that could
 * run it.
 */
function programFile(): string | undefined {
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
  const { createWorkspaceServer } = await import('./server.ts');
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
