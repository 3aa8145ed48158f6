/** Explains why a server's process did not start or ended, with a hint for the user. */

import { statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { type ErrorDetail, PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { errorCode } from '../lib/error-code.ts';
import { causeLine } from './cause-line.ts';

/** How much of one stderr line a message quotes; the whole tail is in the detail. */
const MAX_QUOTED_CHARS = 200;
/** Folders of the PATH that a hint lists. */
const MAX_PATH_SHOWN = 8;

export interface StartAttempt {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Returns the error of a failed spawn. */
export function spawnFailed(thrown: unknown, attempt: StartAttempt): PlugboardError {
  const { command, cwd } = attempt;
  const code = errorCode(thrown);
  const fail = (message: string, hint: string, detail: ErrorDetail = { permanent: true }): PlugboardError =>
    new PlugboardError('START_FAILED', message, { hint, cause: thrown, detail });

  const folder = cwd === undefined ? 'folder' : kindOf(cwd);
  if (folder === 'missing') {
    return fail(
      `The working folder ${cwd} does not exist`,
      'Create it, or correct "cwd" in the server\'s entry.',
    );
  }
  if (folder === 'file') {
    return fail(`The working folder ${cwd} is a file`, 'Give a folder as "cwd" in the server\'s entry.');
  }
  const isPath = /[\\/]/.test(command);
  const kind = isPath ? kindOf(command, cwd) : 'missing';
  if (code === 'ENOENT' && isPath && kind === 'file') {
    return fail(
      `${command} exists, but the program that its first line names does not`,
      'Install the interpreter of its "#!" line, or name the interpreter as the command.',
    );
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const whole = wholeLine(command);
    if (whole !== undefined) return fail(`There is no program called "${command}"`, whole);
    return isPath
      ? fail(`There is no program at ${command}`, 'Check the path in "command" of the server\'s entry.')
      : fail(`The command "${command}" was not found`, searched(command, attempt.env), {
          permanent: true,
          missing: { kind: 'program', name: command },
        });
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return kind === 'folder'
      ? fail(`${command} is a folder, not a program`, 'Name the program inside it as "command".')
      : fail(
          `${command} may not be executed`,
          `Make it executable (chmod +x), or name its interpreter as the command.`,
        );
  }
  if (code === 'E2BIG') {
    return fail(`The arguments and environment of ${command} are too long`, 'Shorten "args" and "env".');
  }
  if (code === 'ERR_INVALID_ARG_VALUE') {
    return fail('The command, an argument or a variable holds a zero byte', 'Correct the entry.');
  }
  const reason = code ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return fail(
    `${command} could not be started: ${reason}`,
    'The system may be out of processes or memory.',
    {},
  );
}

/** Returns a hint for a command line or URL that was given as the program's name. */
function wholeLine(command: string): string | undefined {
  const [program = '', ...args] = command.trim().split(/\s+/);
  if (args.length > 0 && kindOf(command) === 'missing') {
    const words = args.map((word) => JSON.stringify(word)).join(', ');
    return `Give the program and its arguments apart: "command": ${JSON.stringify(program)}, "args": [${words}].`;
  }
  const isHost = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|ai|app|cloud)(?:\/|$)/i.test(command);
  return isHost
    ? `If it is an address, give it as "url": ${JSON.stringify(`https://${command}`)}.`
    : undefined;
}

function searched(command: string, env: StartAttempt['env']): string {
  const path = env['PATH'] ?? env['Path'];
  if (!path) return `Install ${command}, or give its full path: the server's environment has no PATH.`;
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const shown = folders.slice(0, MAX_PATH_SHOWN).join(', ');
  const more = folders.length > MAX_PATH_SHOWN ? ` and ${folders.length - MAX_PATH_SHOWN} more` : '';
  return `Install ${command}, or give its full path. Looked in ${shown}${more}.`;
}

function kindOf(path: string, base?: string): 'missing' | 'folder' | 'file' {
  return attempt(() => (statSync(resolve(base ?? '', path)).isDirectory() ? 'folder' : 'file'), 'missing');
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Cleaned lines of stderr: the first and the last, or only the last if the server had started. */
  readonly stderr: string;
  /** The last line on stdout that was not a frame: some programs print their error there. */
  readonly noise: string | undefined;
  /** Whether it ever sent a frame; until then it has not started. */
  readonly spoke: boolean;
}

/** Returns the error for a process that ended by itself. */
export function exited(exit: Exit): PlugboardError {
  const how =
    exit.signal !== null
      ? `was ended by ${exit.signal}`
      : exit.code === null
        ? 'ended'
        : `exited with code ${exit.code}`;
  const cause = causeLine(exit.stderr, { latest: exit.spoke }) ?? exit.noise?.slice(0, MAX_QUOTED_CHARS);
  const when = exit.spoke ? '' : ' before it answered';
  const message = `The server ${how}${when}${cause === undefined ? '' : `: ${cause}`}`;
  const detail: ErrorDetail = {
    ...(exit.code === null ? {} : { exitCode: exit.code }),
    ...(exit.signal === null ? {} : { exitSignal: exit.signal }),
    ...(exit.stderr === '' ? {} : { stderr: exit.stderr }),
  };
  return new PlugboardError(exit.spoke ? 'CONNECTION_LOST' : 'START_FAILED', message, {
    hint: hintFor(exit),
    detail,
  });
}

type Complaint = readonly [pattern: RegExp, hint: (match: RegExpExecArray) => string];

/** Common error messages of exiting programs, most specific first. */
const COMPLAINTS: readonly Complaint[] = [
  [
    // The port is the last number: an address may precede it.
    /(?:EADDRINUSE|address already in use)(?:[^\n]*[:\s](\d{2,5})\b(?![.:]\d))?/i,
    ([, port]) =>
      `${port ? `Port ${port}` : 'The port'} that the server needs is already in use. End the program that uses it (perhaps an earlier copy of this server), or give the server another port.`,
  ],
  [
    /(?:npm (?:error|ERR!) (?:code )?E?404|is not in (?:this|the npm) registry)(?:[\s\S]*?'([^'\s]+)' is not in)?/,
    ([, name]) =>
      `npm does not know the package${name ? ` ${name}` : ''}. Check its name and version in "args".`,
  ],
  [
    /npm (?:error|ERR!) (?:code )?ETARGET(?:[\s\S]*?No matching version found for (\S+?)\.?(?=\s))?/,
    ([, what]) => `npm has no such version${what ? ` (${what})` : ''}. Check the version in "args".`,
  ],
  [
    /could not determine executable to run/,
    () =>
      'The npm package has no command of its own. Name it as in its documentation: "npx -y -p <package> <command>".',
  ],
  [
    /npm (?:error|ERR!)[^\n]*(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED|network)/,
    () =>
      'npm could not reach its registry. Check the network and the proxy settings, or install the package beforehand.',
  ],
  [
    /Unsupported engine|EBADENGINE|No such built-in module|ERR_UNKNOWN_BUILTIN_MODULE|node: bad option|requires? (?:at least )?Node(?:\.js)?\b/i,
    () =>
      `The server needs another version of Node.js; this is ${process.version}, unless "command" names one.`,
  ],
  [
    /Cannot find (?:module|package) '([^'\n]+)'/,
    ([, name]) =>
      name && /^[./]|^[A-Za-z]:/.test(name)
        ? `There is no file ${name}. Check the path in "args", and "cwd" if it is relative; build the server if that file is built.`
        : `The module ${name} is not installed. Run "npm install" in the server's folder.`,
  ],
  [
    /ModuleNotFoundError: No module named '([^'\n]+)'/,
    ([, name]) => `The Python module ${name} is not installed for the interpreter that "command" names.`,
  ],
  [
    /can't open file '([^'\n]+)'|([^\s:]+): No such file or directory/,
    ([, python, other]) =>
      `There is no file ${python ?? other}. Check the path in "args", and "cwd" if it is relative.`,
  ],
  [
    /([^\s:]+): (?:command )?not found/,
    ([, name]) => `The program ${name} is not installed, or not in the PATH that the server gets.`,
  ],
  [/Exec format error/, () => 'That program was built for another system. Install the build for this one.'],
  [
    /EACCES|permission denied/i,
    () => 'The server was refused access to something it needs. Look at its stderr for the path.',
  ],
];

function hintFor(exit: Exit): string {
  const text = `${exit.stderr}\n${exit.noise ?? ''}`;
  for (const [pattern, hint] of COMPLAINTS) {
    const match = pattern.exec(text);
    if (match) return hint(match);
  }
  if (exit.spoke) return 'Look at its stderr for the cause.';
  if (exit.code === 127)
    return 'A program that the command runs was not found. Check the names and the PATH.';
  if (exit.code === 126) return 'A program that the command runs may not be executed.';
  if (exit.code === 0) return 'This may not be a stdio MCP server, or it may need different arguments.';
  return 'Run its command yourself to see what it needs. Servers only see variables that "env" or "envVars" of the entry lists.';
}

/** The process runs, but closed one of its pipes. */
export function halfClosed(what: 'input' | 'output', stderr: string): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', `The server closed its ${what} but goes on running`, {
    hint: 'It may have failed inside. Reconnect it, and look at its stderr.',
    detail: stderr === '' ? {} : { stderr },
  });
}

/** The error for sending to an ended process. */
export function gone(): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', "The server's process is gone", {
    detail: { notSent: true },
  });
}

/** The start was cancelled by its caller. */
export function aborted(signal: AbortSignal): PlugboardError {
  if (signal.reason instanceof PlugboardError) return signal.reason;
  return new PlugboardError('CANCELLED', 'The start of the server was cancelled', { cause: signal.reason });
}
