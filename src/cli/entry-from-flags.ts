/** Builds the entry that `add` writes from its arguments and flags. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { transportTypes } from '../config/transport-kinds.ts';
import { PlugboardError } from '../errors.ts';
import { joinArgv, splitArgv } from '../lib/argv.ts';
import { counted } from '../lib/counted.ts';
import { defined } from '../lib/defined.ts';
import { findProgram } from '../lib/find-program.ts';
import { oneLine } from '../policy/clean.ts';
import { type Context, type Flags, listFlag, textFlag } from './cli-command.ts';
import { isUrl } from './extra-server.ts';
import { environment, headers, milliseconds, port } from './flags.ts';

/** The arguments of `add` after the name. */
export interface Target {
  /** Arguments before `--`. */
  readonly words: readonly string[];
  /** Arguments after `--`; undefined without `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

type Entry = Record<string, unknown>;

function needs(key: 'command' | 'url', transport: string | undefined): boolean {
  return transport !== undefined && transportTypes(key).includes(transport);
}

const SHAPES = 'plugboard add <name> -- <command> [args…], or plugboard add <name> <url>';

export function newEntry(target: Target, flags: Flags): Entry {
  const [first] = target.words;
  if (target.afterDashes !== undefined) {
    if (first !== undefined) throw twoTargets(first);
    return stdioEntry(target.afterDashes, flags);
  }
  if (first === undefined) {
    throw new PlugboardError('USAGE', 'The server has neither a command nor a url', {
      hint: `Write ${SHAPES}.`,
    });
  }
  const transport = textFlag(flags, 'transport');
  if (isUrl(first) || needs('url', transport)) return remoteEntry(target.words, flags);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(first)) {
    throw new PlugboardError('USAGE', `"${first}" is not an http or https url`, {
      hint: `Write ${SHAPES}.`,
    });
  }
  return stdioEntry(target.words, flags);
}

function twoTargets(word: string): PlugboardError {
  return new PlugboardError('USAGE', `Unexpected "${word}" before --; the server's command comes after it`, {
    hint: `Write ${SHAPES}.`,
  });
}

function stdioEntry(words: readonly string[], flags: Flags): Entry {
  refuse(flags, REMOTE_ONLY, 'can only be used with a url');
  const transport = textFlag(flags, 'transport');
  if (transport !== undefined && !needs('command', transport)) {
    throw new PlugboardError('USAGE', `--transport ${transport} needs a url, but a command was given`, {
      hint: 'Remove --transport, or give a url instead of the command.',
    });
  }
  const [command, ...args] = words;
  if (!command) {
    throw new PlugboardError('USAGE', 'There is no command after --', { hint: `Write ${SHAPES}.` });
  }
  const env = environment(listFlag(flags, 'env'));
  const cwd = textFlag(flags, 'serverCwd');
  return {
    ...(transport === undefined ? {} : { type: transport }),
    command,
    ...(args.length === 0 ? {} : { args }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...timeouts(flags),
  };
}

function remoteEntry(words: readonly string[], flags: Flags): Entry {
  refuse(flags, STDIO_ONLY, 'can only be used with a command');
  const [url = '', excess] = words;
  const transport = textFlag(flags, 'transport');
  if (needs('command', transport)) {
    throw new PlugboardError('USAGE', `--transport ${transport} needs a command, but a url was given`, {
      hint: 'Remove --transport, or put the command after --.',
    });
  }
  if (!isUrl(url) || !URL.canParse(url)) {
    throw new PlugboardError('USAGE', `"${url}" is not an http or https url`, {
      hint: 'Write the full url, for example https://example.com/mcp.',
    });
  }
  if (excess !== undefined) {
    throw new PlugboardError('USAGE', `A server with a url takes no arguments, but "${excess}" was given`, {
      hint: "Use flags such as -H 'Name: value' for its settings.",
    });
  }
  const sent = headers(listFlag(flags, 'header'));
  const bearer = bearerVariable(flags);
  const oauth = oauthDetails(flags);
  return {
    // Written because other agents that read the same file require it; for Plugboard a url alone implies http.
    type: transport ?? 'http',
    url,
    ...(Object.keys(sent).length === 0 ? {} : { headers: sent }),
    ...(bearer === undefined ? {} : { bearerTokenEnvVar: bearer }),
    ...(Object.keys(oauth).length === 0 ? {} : { oauth }),
    ...timeouts(flags),
  };
}

function bearerVariable(flags: Flags): string | undefined {
  const name = textFlag(flags, 'bearerTokenEnvVar');
  if (name === undefined || /^[A-Za-z_]\w*$/.test(name)) return name;
  // The value may be the token, so the message does not repeat it.
  throw new PlugboardError(
    'USAGE',
    '--bearer-token-env-var needs the name of a variable, such as DOCS_TOKEN',
    {
      hint: 'The token itself stays in your environment: export DOCS_TOKEN=…',
    },
  );
}

function oauthDetails(flags: Flags): Entry {
  const clientId = textFlag(flags, 'clientId');
  const clientSecret = textFlag(flags, 'clientSecret');
  if (clientSecret !== undefined && clientId === undefined) {
    throw new PlugboardError('USAGE', '--client-secret requires --client-id', {
      hint: 'Give both, as the server registered them.',
    });
  }
  const callback = textFlag(flags, 'callbackPort');
  const scopes = listFlag(flags, 'oauthScope').flatMap((value) => value.split(/[\s,]+/).filter(Boolean));
  return {
    ...defined({ clientId, clientSecret }),
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(callback === undefined ? {} : { callbackPort: port('--callback-port', callback) }),
  };
}

function timeouts(flags: Flags): Entry {
  const startup = textFlag(flags, 'startupTimeout');
  const tool = textFlag(flags, 'toolTimeout');
  return {
    ...(startup === undefined ? {} : { startupTimeoutMs: milliseconds('--startup-timeout', startup) }),
    ...(tool === undefined ? {} : { toolTimeoutMs: milliseconds('--tool-timeout', tool) }),
  };
}

const STDIO_ONLY = { env: '--env', serverCwd: '--server-cwd' };
const REMOTE_ONLY = {
  header: '--header',
  bearerTokenEnvVar: '--bearer-token-env-var',
  clientId: '--client-id',
  clientSecret: '--client-secret',
  callbackPort: '--callback-port',
  oauthScope: '--oauth-scope',
};

function refuse(flags: Flags, names: Readonly<Record<string, string>>, why: string): void {
  for (const [name, flag] of Object.entries(names)) {
    if (flags[name] === undefined) continue;
    throw new PlugboardError('USAGE', `${flag} ${why}`, {
      hint: 'Run plugboard add --help to see which flag is for which.',
    });
  }
}

/** A host name with a dot, an IPv4 address or `localhost`, with an optional port and path. */
const ADDRESS =
  /^(?<host>(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?<port>:\d{1,5})?(?<path>\/\S*)?$/i;
/** File extensions that are also top-level domains: `server.py`, `run.sh`. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|sh|rb|pl|php|jar|exe|cmd|bat|ps1|go|rs|lua)$/i;

/** Normalizes the command or url of `add`: splits a command line given as one argument, adds a missing scheme. */
export async function settleTarget(context: Context, name: string, target: Target): Promise<Target> {
  const { words, afterDashes } = target;
  const given = afterDashes ?? words;
  const [only] = given;
  if (only === undefined || given.length !== 1 || isThere(only, context)) return target;
  const url = addressOf(only);
  if (url !== undefined) {
    if (await isMeant(context, name, only, url)) return { words: [url], afterDashes: undefined };
    return target;
  }
  if (!/\s/.test(only.trim()) || /^[a-z][a-z0-9+.-]*:\/\//i.test(only)) return target;
  const split = splitArgv(only);
  const { output } = context;
  output.remark(oneLine(splitNote(split)));
  return afterDashes === undefined ? { words: split, afterDashes } : { words, afterDashes: split };
}

function splitNote([command = '', ...args]: readonly string[]): string {
  return `Split into the command ${joinArgv([command])} and ${counted(args.length, 'argument')}.`;
}

/** Returns the url for an argument without a scheme; undefined if it does not look like an address. */
export function addressOf(word: string): string | undefined {
  const { host, port, path } = ADDRESS.exec(word)?.groups ?? {};
  if (host === undefined || (path === undefined && port === undefined && SCRIPT.test(host))) return undefined;
  const isHere = /^(?:localhost|127\.)/i.test(host);
  return `${isHere ? 'http' : 'https'}://${word}`;
}

async function isMeant(context: Context, name: string, word: string, url: string): Promise<boolean> {
  if (context.output.canAsk) {
    const { confirm } = await import('./ask.ts');
    return confirm(context, `"${word}" is not a command. Did you mean ${url}?`);
  }
  throw new PlugboardError('USAGE', `"${word}" is neither a url nor a command that can be found`, {
    server: name,
    hint: `Did you mean ${joinArgv(['plugboard', 'add', name, url])}?`,
  });
}

/** True if the argument names a file or a program on the search path. */
function isThere(word: string, { env, cwd }: Context): boolean {
  if (existsSync(resolve(cwd, word))) return true;
  return !word.includes('/') && findProgram(word, env['PATH'] ?? '') !== undefined;
}
