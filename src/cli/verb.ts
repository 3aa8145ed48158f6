/** The contract between the command line and its verbs: what a verb declares, and what it is given to work with. */

import type { Command } from 'commander';
import type { ServerEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Questioned } from '../connection/questions.ts';
import type { Output } from './output.ts';
import type { CommandHost, Need } from './with-host.ts';

/** Everything a verb may touch of the world outside. */
export interface Context {
  /** The folder the command works in: `--cwd`, else where it was started. Absolute, and it exists. */
  readonly cwd: string;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly verbose: boolean;
  /** Servers given by `--server`, for this run only. */
  readonly extra: Readonly<Record<string, ServerEntry>>;
  readonly output: Output;
  /** Aborted by SIGINT, SIGTERM, SIGHUP, and when nobody reads our output any more. */
  readonly signal: AbortSignal;
  /** The configuration, if it was read for this command already. */
  readonly config?: LoadedConfig | undefined;
  /** Opens a host that is shared with others instead of one for this command alone. */
  readonly openHost?: OpenHost | undefined;
  /** Asks a person who is at the terminal of another process; undefined: as `output.canAsk` says. */
  readonly elicit?: Questioned['elicit'];
  /** What stood after `--`, as it was typed; undefined when there was no `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

export type OpenHost = (need: Need) => Promise<CommandHost>;

/** One command: its arguments and flags, and what it does. Resolves to the exit status. */
export interface Verb {
  configure(command: Command): void;
  run(context: Context, args: readonly string[], flags: Flags): Promise<number>;
}

/** Values of flags as commander hands them over: text, lists of text, or switches. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** A row of the command table: enough for `--help` and for suggestions without loading the verb. */
export interface CommandRow {
  readonly name: string;
  readonly alias?: string;
  readonly group: string;
  readonly summary: string;
  /** For programs rather than people: documented, and not in the list of commands. */
  readonly hidden?: true;
  load(): Promise<Verb>;
}

export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

export function listFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value : [];
}

/** For flags that may be given several times. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}
