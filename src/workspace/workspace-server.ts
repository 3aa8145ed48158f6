/** The workspace server as an entry that works in any folder: a process of this package's own program, or in this process. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EntryBase, InProcessEntry, Sandbox, StdioEntry } from '../config/entry.ts';
import { findProjectRoot } from '../config/home.ts';
import type { InProcessServer } from '../config/in-process.ts';

/** Variables that say who commits, and what signs for them. */
export const GIT_VARIABLES: readonly string[] = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CONFIG_GLOBAL',
  'GNUPGHOME',
  'SSH_AUTH_SOCK',
];

export interface WorkspaceServerOptions extends Omit<EntryBase, 'pins' | 'sandbox' | 'unapproved'> {
  /** The folder that its tools are confined to; default: the project that the host is in. */
  readonly root?: string | undefined;
  /** Whether it also has the shell tool, which is asked about before each call, and git may run hooks. */
  readonly shell?: boolean | undefined;
  /** Limits of files and network for its process. */
  readonly sandbox?: Sandbox | undefined;
}

/**
 * An entry for the server with the tools of a coding agent: read, write, edit, list, glob, grep and git for one folder. It
 * needs neither `npx` nor a command on the PATH. In a bundle or a single executable, where the package's program is not
 * there, the server runs in this process. Other keys of an entry can be given too.
 *
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
    // Its shell is the person's own: with the project's programs on its search path.
    ...(shell ? { PATH: '${PATH:-}' } : {}),
    // The binary of an Electron app is Node only with this.
    ...('electron' in process.versions ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
  };
  return {
    ...entry,
    command: process.execPath,
    args: [program, 'workspace', root ?? '${PROJECT_DIR}', ...(shell ? ['--shell'] : [])],
    ...(Object.keys(env).length === 0 ? {} : { env }),
    envVars: GIT_VARIABLES,
    // It changes with Plugboard itself, and with nothing else.
    pins: 'off',
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

/** The program of this package; undefined in a bundle without it, and where this process is not a Node that could run it. */
function programFile(): string | undefined {
  const sea = process.getBuiltinModule?.('node:sea');
  if (sea?.isSea() === true) return undefined;
  // A bundle as CommonJS has no address of its own.
  const here: unknown = import.meta.url;
  if (typeof here !== 'string' || !here.startsWith('file:')) return undefined;
  // The second one: when run from the sources, the program of the last build.
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
