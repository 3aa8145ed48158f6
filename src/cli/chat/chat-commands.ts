/** Table of chat commands, used for help, completion and execution; servers' prompts are handled separately. */

import { unknownServer } from '../../config/unknown-server.ts';
import type { Host } from '../../host/host.ts';
import { sentences } from '../../lib/sentences.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import type { Output } from '../output.ts';
import { reportLines, rowLayout } from '../report-lines.ts';

const MAX_FOUND = 10;

export interface ChatState {
  readonly host: Host;
  readonly output: Output;
  readonly signal: AbortSignal;
  say(text: string): void;
  compact(): Promise<void>;
  /** Starts a new conversation. */
  clear(): void;
}

/** Whether the chat continues after a command. */
type Outcome = 'stay' | 'leave';

interface ChatCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  run(state: ChatState, words: readonly string[]): Promise<Outcome> | Outcome;
}

export const MCP_ACTIONS: readonly string[] = [
  'connect',
  'disconnect',
  'reconnect',
  'toggle',
  'login',
  'logout',
];

export const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'mcp',
    usage: '/mcp [action server]',
    summary: `list the servers; actions: ${MCP_ACTIONS.join(', ')}`,
    run: runMcp,
  },
  {
    name: 'tools',
    usage: '/tools [words]',
    summary: 'list the tools that the model has now, or those that match the words',
    run: showTools,
  },
  {
    name: 'compact',
    usage: '/compact',
    summary: 'replace the conversation so far with a summary',
    async run(state): Promise<Outcome> {
      await state.compact();
      return 'stay';
    },
  },
  {
    name: 'clear',
    usage: '/clear',
    summary: 'start a new conversation',
    run(state) {
      state.clear();
      return 'stay';
    },
  },
  { name: 'help', usage: '/help', summary: 'show this list', run: showHelp },
  { name: 'exit', usage: '/exit', summary: 'quit (or press Ctrl-D)', run: () => 'leave' },
];

/** Undefined if the line is not a built-in command; it may then be a server's prompt. */
export function findCommand(line: string): ChatCommand | undefined {
  const name = /^\/(\S+)/.exec(line)?.[1];
  return COMMANDS.find((command) => command.name === (name === 'quit' ? 'exit' : name));
}

async function runMcp(state: ChatState, [action, name, ...rest]: readonly string[]): Promise<Outcome> {
  const { host, output, say } = state;
  if (action === undefined) {
    const reports = host.servers();
    const layout = rowLayout(output, reports);
    say(
      reports.length === 0
        ? 'No servers. Add one: plugboard add.'
        : reports.flatMap((report) => reportLines(report, layout)).join('\n'),
    );
    return 'stay';
  }
  if (name === undefined || rest.length > 0 || !MCP_ACTIONS.includes(action)) {
    say(`Usage: /mcp [${MCP_ACTIONS.join('|')} <server>]`);
    return 'stay';
  }
  const report = host.servers().find((each) => each.name === name);
  if (report === undefined) {
    const { message, hint } = unknownServer(name, { known: host.servers().map((each) => each.name) });
    say(oneLine(sentences(message, hint)));
    return 'stay';
  }
  const shown = oneLine(name);
  switch (action === 'toggle' ? (report.status === 'connected' ? 'disconnect' : 'connect') : action) {
    case 'connect':
      await host.connect(name);
      say(`${shown} is connected.`);
      break;
    case 'disconnect':
      await host.disconnect(name);
      say(`${shown} is disconnected.`);
      break;
    case 'reconnect':
      await host.reconnect(name);
      say(`${shown} is connected again.`);
      break;
    case 'login':
      await host.login(name, {
        signal: state.signal,
        onUrl: (url, opened) =>
          say(`${opened ? 'Your browser was opened. If nothing happened, open' : 'Open'}:\n\n  ${url}\n`),
      });
      say(`Logged in to ${shown}.`);
      break;
    case 'logout':
      say((await host.logout(name)) ? `Logged out of ${shown}.` : `There was no login for ${shown}.`);
      break;
  }
  return 'stay';
}

async function showTools({ host, say }: ChatState, words: readonly string[]): Promise<Outcome> {
  const found = words.length === 0 ? host.tools() : await host.search(words.join(' '), { limit: MAX_FOUND });
  const lines = found.map(({ name, description }) => {
    const [first = ''] = clean(description).split('\n');
    return `${oneLine(name)}  ${first}`;
  });
  say(lines.length === 0 ? 'No tools.' : lines.join('\n'));
  return 'stay';
}

async function showHelp({ host, say }: ChatState): Promise<Outcome> {
  const prompts = await host.prompts().catch(() => []);
  const rows = [
    ...COMMANDS.map(({ usage, summary }) => [usage, summary] as const),
    ['@server:uri', 'attach a resource (Tab completes)'] as const,
    ...prompts.map(({ command, description = '' }) => [command, oneLine(description)] as const),
  ];
  const widest = Math.max(...rows.map(([usage]) => usage.length));
  say(rows.map(([usage, summary]) => `${usage.padEnd(widest)}  ${summary}`).join('\n'));
  return 'stay';
}
