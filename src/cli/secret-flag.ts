/** Reads secrets from the environment, a file or a prompt; values on the command line are visible to other users. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { askForSecret } from './ask.ts';
import { type Context, type Flags, textFlag } from './cli-command.ts';
import { readStdin } from './read-stdin.ts';

const STDIN = '-';

export interface SecretFlag {
  /** Commander's names of the flags for the value and the file. */
  readonly value: string;
  readonly file: string;
  /** The flag as it is typed. */
  readonly flag: string;
  readonly variable: string;
  /** Prompt text, if the flag may be given without a value. */
  readonly question?: string;
}

/** Undefined if no secret is given; `env: false` ignores the environment. */
export async function readSecret(
  context: Context,
  flags: Flags,
  { value, file, flag, variable, question }: SecretFlag,
  { env = true }: { readonly env?: boolean } = {},
): Promise<string | undefined> {
  const [typed, path] = [flags[value], textFlag(flags, file)];
  if (typed !== undefined && path !== undefined) throw usage(`${flag} cannot be combined with ${flag}-file`);
  if (typeof typed === 'string') {
    // A reference is not a secret.
    if (!typed.includes('${'))
      context.output.note(
        `warning: other users of this machine can see the value of ${flag}. Use ${variable} or ${flag}-file.`,
      );
    return notEmpty(typed, flag);
  }
  if (typed === true) return notEmpty(await asked(context, question ?? flag), flag);
  if (path !== undefined) return notEmpty(await contentOf(context, path, flag), `${flag}-file`);
  return env ? context.env[variable] || undefined : undefined;
}

async function asked(context: Context, question: string): Promise<string> {
  return context.output.canAsk ? askForSecret(context, question) : readStdin(process.stdin);
}

async function contentOf({ cwd }: Context, path: string, flag: string): Promise<string> {
  if (path === STDIN) return readStdin(process.stdin);
  try {
    return await readFile(resolve(cwd, path), 'utf8');
  } catch (cause) {
    throw new PlugboardError('USAGE', `${flag}-file cannot be read: ${path}`, { cause });
  }
}

function notEmpty(secret: string, from: string): string {
  const text = secret.trim();
  if (text === '') throw usage(`${from} is empty`);
  return text;
}

function usage(message: string): PlugboardError {
  return new PlugboardError('USAGE', message);
}
