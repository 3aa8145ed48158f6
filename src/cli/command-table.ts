/** Table of commands, and `runCommand`, which runs argv and returns an exit status. */

import { EXIT_STATUS, PlugboardError } from '../errors.ts';
import { isReaderGone, outputFailed } from '../lib/sink.ts';
import { readVersion } from '../lib/version.ts';
import type { CommandRow } from './cli-command.ts';
import { listenForInterrupts } from './interrupt.ts';
import { Output } from './output.ts';
import { runProgram } from './program.ts';
import { describeFailure, reportFailure } from './report-failure.ts';

const SERVERS = 'Servers:';
const MOVING = 'Moving in:';
const TOOLS = 'Tools:';
const CONTENT = 'Resources and prompts:';
const SAFETY = 'Safety:';
const SERVING = 'Serving:';
const WRITING = 'Writing servers:';
const HELPERS = 'Help:';

/** Name, group and summary of every command, in the order of the help. */
const COMMANDS = [
  ['add', SERVERS, 'add a server'],
  ['add-json', SERVERS, 'add a server from its JSON entry'],
  ['remove', SERVERS, 'remove a server'],
  ['get', SERVERS, 'show one server and where it is configured'],
  ['set', SERVERS, "change single values of a server's entry"],
  ['unset', SERVERS, "remove single values of a server's entry"],
  ['edit', SERVERS, "open a server's entry in your editor"],
  ['enable', SERVERS, 'switch a server on'],
  ['disable', SERVERS, 'switch a server off without removing it'],
  ['list', SERVERS, 'connect to all servers and show their status', { alias: 'status' }],
  ['test', SERVERS, 'connect to one server and time each phase'],
  ['info', SERVERS, 'show the details of a server and how it runs'],
  ['logs', SERVERS, 'show the logs of servers'],
  ['up', MOVING, 'set up: import the servers of your agents and serve them from one place'],
  ['down', MOVING, 'undo "up"'],
  ['import', MOVING, 'import servers from other agents'],
  ['export', MOVING, 'write Plugboard into the configuration of another agent'],
  ['plugin', SERVERS, 'manage plugins (folders that bundle servers)'],
  ['tools', TOOLS, 'list the tools of all servers, or of one'],
  ['tool', TOOLS, 'show one tool: its arguments, and how to call it'],
  ['search', TOOLS, 'search tools by what they do'],
  ['call', TOOLS, 'call a tool'],
  ['program', TOOLS, 'run, save, list and remove programs that call tools'],
  ['tasks', TOOLS, 'list, watch and cancel calls in the background, and show their results'],
  ['cost', TOOLS, 'show what servers and tools cost a model in tokens, and which are unused'],
  ['results', TOOLS, 'list, show and delete results that were too long for a model'],
  ['resources', CONTENT, 'list the resources of all servers, or of one'],
  ['read', CONTENT, 'read a resource'],
  ['prompts', CONTENT, 'list the prompts of all servers, or of one'],
  ['prompt', CONTENT, 'fill in a prompt and print it'],
  ['login', SAFETY, 'log in to a remote server'],
  ['logout', SAFETY, 'log out of a remote server'],
  ['input', SAFETY, 'set, list and remove values of ${input:id}'],
  ['trust', SAFETY, 'review and approve the servers of a project'],
  ['token', SAFETY, 'create, list and revoke tokens for agents that connect over HTTP'],
  ['profile', SAFETY, 'list and show the profiles of clients, and try a call in one'],
  ['audit', SAFETY, 'show which client called which tool, and how it ended', { hasServerFlag: true }],
  ['chat', SERVING, 'chat with your own model, with all of these tools'],
  ['serve', SERVING, 'serve all servers as one MCP server, for any agent'],
  ['dashboard', SERVING, 'open the dashboard with servers, calls and questions in a browser'],
  ['daemon', SERVING, 'start, stop, restart or show the daemon that agents share'],
  ['service', SERVING, 'install the daemon as a service that starts with your session'],
  ['reconnect', SERVING, 'restart a server of the daemon'],
  ['reload', SERVING, 'reload the configuration of the daemon'],
  ['workspace', SERVING, 'serve files and git of one project on stdio', { hidden: true }],
  ['init', WRITING, 'create a project for a new MCP server'],
  ['lock', SAFETY, 'lock servers to exact packages, which then run without a network'],
  ['outdated', SAFETY, 'show newer versions of locked servers'],
  ['update', SAFETY, 'update locked servers after showing what changes'],
  ['pins', SAFETY, 'show tools whose definition changed, and accept them'],
  ['doctor', HELPERS, 'check everything and suggest fixes'],
  ['completion', HELPERS, 'print a shell completion script'],
] as const;

/** The modules that implement the commands are loaded on demand. */
const LOADERS: Readonly<Record<(typeof COMMANDS)[number][0], CommandRow['load']>> = {
  add: async () => (await import('./commands/add-command.ts')).add,
  'add-json': async () => (await import('./commands/add-json-command.ts')).addJson,
  remove: async () => (await import('./commands/remove-command.ts')).remove,
  get: async () => (await import('./commands/get-command.ts')).get,
  set: async () => (await import('./commands/set-command.ts')).set,
  unset: async () => (await import('./commands/set-command.ts')).unset,
  edit: async () => (await import('./commands/edit-command.ts')).edit,
  enable: async () => (await import('./commands/switch-command.ts')).enable,
  disable: async () => (await import('./commands/switch-command.ts')).disable,
  list: async () => (await import('./commands/list-command.ts')).list,
  test: async () => (await import('./commands/test-command.ts')).test,
  info: async () => (await import('./commands/info-command.ts')).info,
  logs: async () => (await import('./commands/logs-command.ts')).logs,
  up: async () => (await import('./commands/up-command.ts')).up,
  down: async () => (await import('./commands/down-command.ts')).down,
  import: async () => (await import('./commands/import-command.ts')).importCommand,
  export: async () => (await import('./commands/export-command.ts')).exportCommand,
  plugin: async () => (await import('./commands/plugin-command.ts')).plugin,
  tools: async () => (await import('./commands/tools-command.ts')).tools,
  tool: async () => (await import('./commands/tool-command.ts')).tool,
  search: async () => (await import('./commands/search-command.ts')).search,
  call: async () => (await import('./commands/call-command.ts')).call,
  program: async () => (await import('./commands/program-command.ts')).program,
  tasks: async () => (await import('./commands/tasks-command.ts')).tasks,
  cost: async () => (await import('./commands/cost-command.ts')).cost,
  results: async () => (await import('./commands/results-command.ts')).results,
  resources: async () => (await import('./commands/resources-command.ts')).resources,
  read: async () => (await import('./commands/read-command.ts')).read,
  prompts: async () => (await import('./commands/prompts-command.ts')).prompts,
  prompt: async () => (await import('./commands/prompt-command.ts')).prompt,
  login: async () => (await import('./commands/login-command.ts')).login,
  logout: async () => (await import('./commands/logout-command.ts')).logout,
  input: async () => (await import('./commands/input-command.ts')).input,
  trust: async () => (await import('./commands/trust-command.ts')).trust,
  token: async () => (await import('./commands/token-command.ts')).token,
  profile: async () => (await import('./commands/profile-command.ts')).profile,
  audit: async () => (await import('./commands/audit-command.ts')).audit,
  chat: async () => (await import('./commands/chat-command.ts')).chat,
  serve: async () => (await import('./commands/serve-command.ts')).serve,
  dashboard: async () => (await import('./commands/serve-command.ts')).dashboard,
  daemon: async () => (await import('./commands/daemon-command.ts')).daemon,
  service: async () => (await import('./commands/service-command.ts')).service,
  reconnect: async () => (await import('./commands/reconnect-command.ts')).reconnect,
  reload: async () => (await import('./commands/reload-command.ts')).reload,
  workspace: async () => (await import('./commands/workspace-command.ts')).workspace,
  init: async () => (await import('./commands/init-command.ts')).init,
  lock: async () => (await import('./commands/lock-command.ts')).lock,
  outdated: async () => (await import('./commands/outdated-command.ts')).outdated,
  update: async () => (await import('./commands/update-command.ts')).update,
  pins: async () => (await import('./commands/pins-command.ts')).pins,
  doctor: async () => (await import('./commands/doctor-command.ts')).doctor,
  completion: async () => (await import('./commands/completion-command.ts')).completion,
};

export const rows: readonly CommandRow[] = COMMANDS.map(([name, group, summary, more]) => ({
  name,
  group,
  summary,
  ...more,
  load: LOADERS[name],
}));

/** Runs argv and resolves to the exit status when all output is written. `exit` is called on a second interrupt. */
export async function runCommand(argv: readonly string[], exit: (status: number) => void): Promise<number> {
  const { env } = process;
  const interrupts = listenForInterrupts(exit);
  let unwritten: PlugboardError | undefined;
  const readerGone = new PlugboardError('CANCELLED', 'The reader of the output has exited');
  const output = new Output({
    json: hasSwitch(argv, '--json'),
    env,
    signal: interrupts.signal,
    onReaderGone: (error) => {
      if (!isReaderGone(error)) unwritten = outputFailed(error);
      interrupts.cancel(unwritten ?? readerGone);
    },
  });
  const verbose = hasSwitch(argv, '--verbose');
  // An uncaught internal error is also printed as one sentence, with the documented exit status.
  process.once('uncaughtException', (thrown) => exit(reportFailure(thrown, output, verbose)));
  let status: number;
  try {
    const { signal } = interrupts;
    status = await runProgram({ argv, env, rows, version: readVersion, output, signal });
  } catch (thrown) {
    // A reader that closes the pipe is not a failure.
    const isReported = unwritten !== undefined || interrupts.signal.reason === readerGone;
    status = isReported ? 0 : reportFailure(thrown, output, verbose);
  }
  await output.drained();
  // Writing the last bytes may fail after the command has finished.
  if (unwritten === undefined) return status;
  output.note(describeFailure(unwritten, output));
  await output.drained();
  return EXIT_STATUS[unwritten.code];
}

/** Looks for a boolean flag before argv is parsed, because usage errors need the right output format too. */
export function hasSwitch(argv: readonly string[], name: string): boolean {
  const dashes = argv.indexOf('--');
  return (dashes === -1 ? argv : argv.slice(0, dashes)).includes(name);
}
