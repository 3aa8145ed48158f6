/** Normalizes the command or url of `add`: splits a command line given as one argument, adds a missing scheme. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { findProgram } from '../lib/find-program.ts';
import { clean } from '../policy/clean.ts';
import { joinArgv, splitArgv } from './argv.ts';
import type { Context } from './cli-command.ts';
import type { Target } from './entry-from-flags.ts';

/** A host name with a dot, an IPv4 address or `localhost`, with an optional port and path. */
const ADDRESS =
  /^(?<host>(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?<port>:\d{1,5})?(?<path>\/\S*)?$/i;
/** File extensions that are also top-level domains: `server.py`, `run.sh`. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|sh|rb|pl|php|jar|exe|cmd|bat|ps1|go|rs|lua)$/i;

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
  output.note(`${output.notePaint.warn('note:')} ${clean(splitNote(split), { multiline: false })}`);
  return afterDashes === undefined ? { words: split, afterDashes } : { words, afterDashes: split };
}

function splitNote([command = '', ...args]: readonly string[]): string {
  const rest = `${args.length} ${args.length === 1 ? 'argument' : 'arguments'}`;
  return `Split into the command ${joinArgv([command])} and ${rest}.`;
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
  throw new PlugboardError('USAGE', `"${word}" is neither a url nor a command that can be found.`, {
    server: name,
    hint: `Did you mean ${joinArgv(['plugboard', 'add', name, url])}?`,
  });
}

/** True if the argument names a file or a program on the search path. */
function isThere(word: string, { env, cwd }: Context): boolean {
  if (existsSync(resolve(cwd, word))) return true;
  return !word.includes('/') && findProgram(word, env['PATH'] ?? '') !== undefined;
}
