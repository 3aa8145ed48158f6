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

/** All commands; the modules that implement them are loaded on demand. */
export const rows: readonly CommandRow[] = [
  {
    name: 'add',
    group: SERVERS,
    summary: 'add a server',
    load: async () => (await import('./commands/add-command.ts')).add,
  },
  {
    name: 'add-json',
    group: SERVERS,
    summary: 'add a server from its JSON entry',
    load: async () => (await import('./commands/add-json-command.ts')).addJson,
  },
  {
    name: 'remove',
    group: SERVERS,
    summary: 'remove a server',
    load: async () => (await import('./commands/remove-command.ts')).remove,
  },
  {
    name: 'get',
    group: SERVERS,
    summary: 'show one server and where it is configured',
    load: async () => (await import('./commands/get-command.ts')).get,
  },
  {
    name: 'set',
    group: SERVERS,
    summary: "change single values of a server's entry",
    load: async () => (await import('./commands/set-command.ts')).set,
  },
  {
    name: 'unset',
    group: SERVERS,
    summary: "remove single values of a server's entry",
    load: async () => (await import('./commands/set-command.ts')).unset,
  },
  {
    name: 'edit',
    group: SERVERS,
    summary: "open a server's entry in your editor",
    load: async () => (await import('./commands/edit-command.ts')).edit,
  },
  {
    name: 'enable',
    group: SERVERS,
    summary: 'switch a server on',
    load: async () => (await import('./commands/switch-command.ts')).enable,
  },
  {
    name: 'disable',
    group: SERVERS,
    summary: 'switch a server off without removing it',
    load: async () => (await import('./commands/switch-command.ts')).disable,
  },
  {
    name: 'list',
    alias: 'status',
    group: SERVERS,
    summary: 'connect to all servers and show their status',
    load: async () => (await import('./commands/list-command.ts')).list,
  },
  {
    name: 'test',
    group: SERVERS,
    summary: 'connect to one server and time each phase',
    load: async () => (await import('./commands/test-command.ts')).test,
  },
  {
    name: 'info',
    group: SERVERS,
    summary: 'show the details of a server and how it runs',
    load: async () => (await import('./commands/info-command.ts')).info,
  },
  {
    name: 'logs',
    group: SERVERS,
    summary: 'show the logs of servers',
    load: async () => (await import('./commands/logs-command.ts')).logs,
  },
  {
    name: 'up',
    group: MOVING,
    summary: 'set up: import the servers of your agents and serve them from one place',
    load: async () => (await import('./commands/up-command.ts')).up,
  },
  {
    name: 'down',
    group: MOVING,
    summary: 'undo "up"',
    load: async () => (await import('./commands/down-command.ts')).down,
  },
  {
    name: 'import',
    group: MOVING,
    summary: 'import servers from other agents',
    load: async () => (await import('./commands/import-command.ts')).importCommand,
  },
  {
    name: 'export',
    group: MOVING,
    summary: 'write Plugboard into the configuration of another agent',
    load: async () => (await import('./commands/export-command.ts')).exportCommand,
  },
  {
    name: 'plugin',
    group: SERVERS,
    summary: 'manage plugins (folders that bundle servers)',
    load: async () => (await import('./commands/plugin-command.ts')).plugin,
  },
  {
    name: 'tools',
    group: TOOLS,
    summary: 'list the tools of all servers, or of one',
    load: async () => (await import('./commands/tools-command.ts')).tools,
  },
  {
    name: 'tool',
    group: TOOLS,
    summary: 'show one tool: its arguments, and how to call it',
    load: async () => (await import('./commands/tool-command.ts')).tool,
  },
  {
    name: 'search',
    group: TOOLS,
    summary: 'search tools by what they do',
    load: async () => (await import('./commands/search-command.ts')).search,
  },
  {
    name: 'call',
    group: TOOLS,
    summary: 'call a tool',
    load: async () => (await import('./commands/call-command.ts')).call,
  },
  {
    name: 'resources',
    group: CONTENT,
    summary: 'list the resources of all servers, or of one',
    load: async () => (await import('./commands/resources-command.ts')).resources,
  },
  {
    name: 'read',
    group: CONTENT,
    summary: 'read a resource',
    load: async () => (await import('./commands/read-command.ts')).read,
  },
  {
    name: 'prompts',
    group: CONTENT,
    summary: 'list the prompts of all servers, or of one',
    load: async () => (await import('./commands/prompts-command.ts')).prompts,
  },
  {
    name: 'prompt',
    group: CONTENT,
    summary: 'fill in a prompt and print it',
    load: async () => (await import('./commands/prompt-command.ts')).prompt,
  },
  {
    name: 'login',
    group: SAFETY,
    summary: 'log in to a remote server',
    load: async () => (await import('./commands/login-command.ts')).login,
  },
  {
    name: 'logout',
    group: SAFETY,
    summary: 'log out of a remote server',
    load: async () => (await import('./commands/logout-command.ts')).logout,
  },
  {
    name: 'input',
    group: SAFETY,
    summary: 'set, list and remove values of ${input:id}',
    load: async () => (await import('./commands/input-command.ts')).input,
  },
  {
    name: 'trust',
    group: SAFETY,
    summary: 'review and approve the servers of a project',
    load: async () => (await import('./commands/trust-command.ts')).trust,
  },
  {
    name: 'token',
    group: SAFETY,
    summary: 'create, list and revoke tokens for agents that connect over HTTP',
    load: async () => (await import('./commands/token-command.ts')).token,
  },
  {
    name: 'chat',
    group: SERVING,
    summary: 'chat with your own model, with all of these tools',
    load: async () => (await import('./commands/chat-command.ts')).chat,
  },
  {
    name: 'serve',
    group: SERVING,
    summary: 'serve all servers as one MCP server, for any agent',
    load: async () => (await import('./commands/serve-command.ts')).serve,
  },
  {
    name: 'dashboard',
    group: SERVING,
    summary: 'open the dashboard with servers, calls and questions in a browser',
    load: async () => (await import('./commands/serve-command.ts')).dashboard,
  },
  {
    name: 'daemon',
    group: SERVING,
    summary: 'start, stop, restart or show the daemon that agents share',
    load: async () => (await import('./commands/daemon-command.ts')).daemon,
  },
  {
    name: 'service',
    group: SERVING,
    summary: 'install the daemon as a service that starts with your session',
    load: async () => (await import('./commands/service-command.ts')).service,
  },
  {
    name: 'reconnect',
    group: SERVING,
    summary: 'restart a server of the daemon',
    load: async () => (await import('./commands/reconnect-command.ts')).reconnect,
  },
  {
    name: 'reload',
    group: SERVING,
    summary: 'reload the configuration of the daemon',
    load: async () => (await import('./commands/reload-command.ts')).reload,
  },
  {
    name: 'workspace',
    hidden: true,
    group: SERVING,
    summary: 'serve files and git of one project on stdio',
    load: async () => (await import('./commands/workspace-command.ts')).workspace,
  },
  {
    name: 'init',
    group: WRITING,
    summary: 'create a project for a new MCP server',
    load: async () => (await import('./commands/init-command.ts')).init,
  },
  {
    name: 'pins',
    group: SAFETY,
    summary: 'show tools whose definition changed, and accept them',
    load: async () => (await import('./commands/pins-command.ts')).pins,
  },
  {
    name: 'doctor',
    group: HELPERS,
    summary: 'check everything and suggest fixes',
    load: async () => (await import('./commands/doctor-command.ts')).doctor,
  },
  {
    name: 'completion',
    group: HELPERS,
    summary: 'print a shell completion script',
    load: async () => (await import('./commands/completion-command.ts')).completion,
  },
];

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
