/**
 * Bundles the command into dist/bin/: few files are read at start instead of a hundred, and none that the command
 * at hand does not need. Figures: `node bench/startup.mjs`, with dist/cli/main.js as second argument to compare.
 *
 * CommonJS, because Node's loader for ES modules alone costs 0.2 × `node -e 0`, and because in it what is
 * required lazily is also loaded lazily. The files:
 *
 *   plugboard.cjs   answers --version, else loads one of the next two through the code cache (src/cli/code-cache.ts)
 *   remote.cjs      the way to the daemon: the relay, and commands that run there
 *   commands.cjs    the command line, the configuration, and the commands that only look at it
 *   other-commands.cjs  all other commands; those that connect load the next
 *   start.cjs       starts processes of servers, before the next is loaded
 *   host.cjs        the host and everything below it
 *   remotes.cjs     remote servers: HTTP and logins
 *   rare.cjs        sandboxes, the scan of descriptions, changes of configuration files
 *   serve.cjs       the gateway
 *   cluster.cjs     replicas of the gateway, with the client of Redis
 *   chat.cjs        the agent in the terminal
 *   agent.cjs       the agent as a tool of the gateway
 *   doctor.cjs      the checks of doctor
 *   moving.cjs      import, export, up and down, with all that is known about other agents
 *   daemon.cjs      the daemon, a program of its own
 *   trust.cjs       consent, and rules that no longer hold
 *   jsonc.cjs       what edits a configuration, and reads one that is not plain JSON
 *   complete.cjs    what the completion of shells asks, with command-words.json beside it
 *   workspace.cjs   the workspace server, which other agents start too; workspace-tools.json is what it offers
 *   argument-check.cjs  its check of arguments
 *   errors.cjs      shared by both, so that an error is an instance of one class
 *
 * And the kit, an ES module as its users' programs are: a server's start should be its author's own code. What
 * only servers over HTTP or with JSON Schemas by hand need is in files apart.
 */

import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { commonJsOptions, keepApart } from './bundle-plugins.mjs';
import { buildCommonJs } from './commonjs.mjs';
import { buildEsModules } from './es-modules.mjs';
import { buildPackages } from './packages.mjs';
import { buildRemoteOnly } from './remote-only.mjs';

const EXECUTABLE = 0o755;

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const out = join(root, 'dist', 'bin');

const errors = { 'errors.ts': './errors.cjs' };
/** Parts of the host that few starts need; Node compiles the whole of each file that it reads. */
const remotes = [
  'auth/server-auth.ts',
  'auth/logins.ts',
  'transport/http-transport.ts',
  'transport/sse-transport.ts',
];
const rare = ['transport/sandbox-bwrap.ts', 'policy/scan.ts', 'host/host-configure.ts'];
/** Loaded before the host by commands that connect, so that the servers start while the host is loaded. */
const start = ['host/head-start.ts', 'host/host-processes.ts', 'transport/create-transport.ts'];
const partsOfStart = {
  ...errors,
  ...Object.fromEntries(remotes.map((path) => [path, './remotes.cjs'])),
  ...Object.fromEntries(rare.map((path) => [path, './rare.cjs'])),
};
const withStart = Object.fromEntries(start.map((path) => [path, './start.cjs']));
const partsOfHost = { ...partsOfStart, ...withStart };
const host = { ...errors, ...withStart, 'host/host.ts': './host.cjs' };
const moving = ['import', 'export', 'up', 'down'].map((name) => `cli/commands/${name}-command.ts`);
/** Commands with a file of their own. */
const programs = {
  ...host,
  'cli/commands/chat-command.ts': './chat.cjs',
  'cli/commands/doctor-command.ts': './doctor.cjs',
  'cli/commands/serve-command.ts': './serve.cjs',
  'cli/workspace-program.ts': './workspace.cjs',
  ...Object.fromEntries(moving.map((path) => [path, './moving.cjs'])),
};
/** What `get` and `list --no-connect` do not need: it would be half of the file that they have to read. */
const commandFiles = (await readdir(join(src, 'cli', 'commands')))
  .map((file) => `cli/commands/${file}`)
  .filter((path) => !(path in programs) && !/\/(?:get|list|dashboard)-command\.ts$/.test(path))
  .concat('cli/list-connected.ts', 'cli/overview.ts', 'cli/elicit-form.ts');
const jsonc = ['config/jsonc.ts', 'config/json-edit.ts'];
const withJsonc = { ...programs, ...Object.fromEntries(jsonc.map((path) => [path, './jsonc.cjs'])) };
/** Read only where something of a project or plugin is configured. */
const trust = ['policy/trust.ts', 'policy/unused-rules.ts'];
const withTrust = { ...withJsonc, ...Object.fromEntries(trust.map((path) => [path, './trust.cjs'])) };
const commands = {
  ...withTrust,
  ...Object.fromEntries(commandFiles.map((path) => [path, './other-commands.cjs'])),
};

const files = [
  { name: 'errors', entry: 'errors.ts', apart: {} },
  { name: 'start', entry: start, apart: partsOfStart },
  { name: 'host', entry: 'host/host.ts', apart: partsOfHost },
  // The packages that it imports are CommonJS, too; Jest cannot import() any.
  { name: 'remotes', entry: remotes, apart: errors, supported: { 'dynamic-import': false } },
  { name: 'rare', entry: rare, apart: errors },
  // With the schema library; only `serve --agent` reads it.
  { name: 'agent', entry: 'chat/agent-tools.ts', apart: host },
  {
    name: 'serve',
    entry: 'cli/commands/serve-command.ts',
    apart: { ...host, 'chat/agent-tools.ts': './agent.cjs', 'cluster/open-cluster.ts': './cluster.cjs' },
  },
  // With the client of Redis; only `serve --cluster` reads it.
  { name: 'cluster', entry: 'cluster/open-cluster.ts', apart: errors },
  { name: 'moving', entry: moving, apart: host },
  { name: 'argument-check', entry: 'call/argument-check.ts', apart: {} },
  {
    name: 'workspace',
    entry: 'cli/workspace-program.ts',
    // Read when the first arguments have to be checked.
    apart: { ...errors, 'call/argument-check.ts': './argument-check.cjs' },
    supported: { 'dynamic-import': false },
  },
  { name: 'chat', entry: 'cli/commands/chat-command.ts', apart: host },
  { name: 'doctor', entry: 'cli/commands/doctor-command.ts', apart: host },
  { name: 'jsonc', entry: jsonc, apart: errors },
  { name: 'trust', entry: trust, apart: withJsonc },
  { name: 'other-commands', entry: commandFiles, apart: withTrust },
  { name: 'commands', entry: 'cli/command-table.ts', apart: commands },
  {
    name: 'daemon',
    entry: 'daemon/server/daemon-main.ts',
    apart: { ...commands, 'cli/command-table.ts': './commands.cjs' },
  },
  { name: 'complete', entry: 'cli/completion/run-complete.ts', apart: {} },
  // Here import() becomes require(), which does not wake the loader for ES modules.
  {
    name: 'remote',
    entry: 'daemon/client/run-in-daemon.ts',
    apart: { ...errors, 'config/jsonc.ts': './jsonc.cjs' },
    supported: { 'dynamic-import': false },
  },
  { name: 'plugboard', entry: 'cli/launch-command.ts', apart: {} },
];

const compiled = (...path) => import(pathToFileURL(join(root, 'dist', ...path)).href);

/** Several modules as one file. Each is evaluated when one of its exports is read: a command needs few of them. */
async function allOf(paths) {
  const getters = await Promise.all(
    paths.map(async (path) => {
      const names = Object.keys(await compiled(path.replace(/\.ts$/, '.js')));
      return names.map((name) => `${name}: { enumerable: true, get: () => require('./${path}').${name} },`);
    }),
  );
  return {
    contents: `Object.defineProperties(exports, {${getters.flat().join('\n')}});`,
    resolveDir: src,
  };
}

/** Commander loads it for subcommands that are programs of their own; we have none, and it costs a millisecond. */
const noChildProcess = {
  name: 'no-child-process-in-commander',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('/commander/') ? { path: 'child_process', namespace: 'nothing' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: '' }));
  },
};

const { plugins, ...options } = commonJsOptions;
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await Promise.all(
  files.map(async ({ name, entry, apart, supported = {} }) =>
    build({
      ...options,
      ...(Array.isArray(entry) ? { stdin: await allOf(entry) } : { entryPoints: [join(src, entry)] }),
      outfile: join(out, `${name}.cjs`),
      supported,
      // Hints of the command name commands; see src/errors.ts.
      define: { PLUGBOARD_COMMAND: 'true' },
      plugins: [keepApart(apart), noChildProcess, ...plugins],
    }),
  ),
);
await chmod(join(out, 'plugboard.cjs'), EXECUTABLE);
const { commandWords } = await compiled('cli', 'completion', 'command-words.js');
await writeFile(join(out, 'command-words.json'), JSON.stringify(await commandWords()));
await writeFile(join(out, 'workspace-tools.json'), JSON.stringify(await workspaceTools()));

/** What the workspace server says when it is asked for its tools, so that it need not be asked. */
async function workspaceTools() {
  const { createWorkspaceServer } = await compiled('workspace', 'workspace-server.js');
  const { connectInMemory } = await compiled('testing', 'index.js');
  const { server, close } = createWorkspaceServer({ root, shell: true, searchPath: '' });
  const client = await connectInMemory(server);
  const { instructions } = await client.request('server/discover');
  const { protocolVersion } = client;
  const list = {
    era: 'modern',
    protocolVersion,
    instructions,
    http: false,
    items: await client.tools(),
    offers: [],
  };
  await client.close();
  close();
  return list;
}

await build({
  absWorkingDir: root,
  entryPoints: [join(src, 'kit', 'index.ts')],
  outdir: join(root, 'dist', 'kit'),
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  packages: 'external',
  allowOverwrite: true,
  plugins: [keepApart({ 'errors.ts': '../errors.js' })],
  logLevel: 'warning',
});

await buildCommonJs();
await buildEsModules();
await buildRemoteOnly();
await buildPackages();
