/** The exact commands or config lines that connect each known agent to a gateway. */

import { networkInterfaces } from 'node:os';
import { shellWord } from '../lib/shell-word.ts';

export interface GatewayAddress {
  readonly url: string;
  /** Undefined if no token is required. */
  readonly token: string | undefined;
  /** The shell expression for the token in typed commands: `$(cat …)`. */
  readonly shellToken?: string | undefined;
}

export interface ConnectLines {
  readonly agent: string;
  /** Where the lines go: a shell, or a file. */
  readonly where: string;
  readonly lines: readonly string[];
}

/** Last line of the output of every program that serves until it is interrupted. */
export const STOP_LINE = 'Press Ctrl-C to stop.';

const NAME = 'plugboard';
const TOKEN_VARIABLE = 'PLUGBOARD_TOKEN';

/**
 * Returns the lines for each agent.
 *
 * @example
 * connectLines({ url: 'http://127.0.0.1:7420/mcp', token: undefined })[0]?.lines;
 * // → ['claude mcp add --transport http plugboard http://127.0.0.1:7420/mcp']
 */
export function connectLines({ url, token, shellToken }: GatewayAddress): readonly ConnectLines[] {
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  const header = token === undefined ? '' : ` --header "Authorization: Bearer ${shellToken ?? token}"`;
  return [
    {
      agent: 'Claude Code',
      where: 'type',
      lines: [`claude mcp add --transport http ${NAME} ${url}${header}`],
    },
    {
      agent: 'Codex',
      where: 'type',
      lines:
        token === undefined
          ? [`codex mcp add ${NAME} --url ${url}`]
          : [
              `export ${TOKEN_VARIABLE}=${shellToken ?? token}`,
              `codex mcp add ${NAME} --url ${url} --bearer-token-env-var ${TOKEN_VARIABLE}`,
            ],
    },
    {
      agent: 'OpenCode',
      where: 'opencode.json',
      lines: [JSON.stringify({ mcp: { [NAME]: { type: 'remote', url, enabled: true, ...headers } } })],
    },
    {
      agent: 'Cursor',
      where: '.cursor/mcp.json',
      lines: [JSON.stringify({ mcpServers: { [NAME]: { url, ...headers } } })],
    },
    {
      agent: 'VS Code',
      where: 'type',
      lines: [`code --add-mcp '${JSON.stringify({ name: NAME, type: 'http', url, ...headers })}'`],
    },
  ];
}

/** Returns the lines that connect each agent over stdio: it shares the servers of the daemon with the others. */
export function localLines(profile?: string): readonly ConnectLines[] {
  const args = ['serve', '--stdio', ...(profile === undefined ? [] : ['--profile', profile])];
  const program = [NAME, ...args.map(shellWord)].join(' ');
  return [
    { agent: 'Claude Code', where: 'type', lines: [`claude mcp add --scope user ${NAME} -- ${program}`] },
    { agent: 'Codex', where: 'type', lines: [`codex mcp add ${NAME} -- ${program}`] },
    {
      agent: 'OpenCode',
      where: 'opencode.json',
      lines: [
        JSON.stringify({ mcp: { [NAME]: { type: 'local', command: [NAME, ...args], enabled: true } } }),
      ],
    },
    {
      agent: 'Cursor',
      where: '.cursor/mcp.json',
      lines: [JSON.stringify({ mcpServers: { [NAME]: { command: NAME, args } } })],
    },
    {
      agent: 'VS Code',
      where: 'type',
      lines: [`code --add-mcp ${shellWord(JSON.stringify({ name: NAME, command: NAME, args }))}`],
    },
  ];
}

/** Formats the lines as text, each agent under its name. */
export function describeConnecting(address: GatewayAddress): string {
  return connectLines(address)
    .map(({ agent, where, lines }) => {
      const label = where === 'type' ? agent : `${agent} (${where})`;
      return [`  ${label}:`, ...lines.map((line) => `    ${line}`)].join('\n');
    })
    .join('\n');
}

/** Replaces a wildcard address by one that other machines can use. */
export function reachableUrl(
  text: string,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): string {
  const url = new URL(text);
  if (url.hostname !== '0.0.0.0' && url.hostname !== '[::]') return text;
  const addresses = Object.values(interfaces).flatMap((each) => each ?? []);
  const outside = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  url.hostname = outside?.address ?? '127.0.0.1';
  return url.href;
}
