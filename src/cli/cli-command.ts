/** Interface between the CLI and its commands (`CliCommand`): their declaration, and the context they run in. */

import type { Command } from 'commander';
import type { ServerEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Questioned } from '../connection/questions.ts';
import type { Output } from './output.ts';
import type { CommandHost, Need } from './with-host.ts';

/** Everything outside its own code that a command may use. */
export interface Context {
  /** Working folder of the command: `--cwd`, else the folder it was started in. Absolute, and it exists. */
  readonly cwd: string;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly verbose: boolean;
  /** Servers given by `--server`, for this run only. */
  readonly extra: Readonly<Record<string, ServerEntry>>;
  readonly output: Output;
  /** Prints a note on stderr: `output.note`. */
  readonly note: (message: string) => void;
  /** Aborted by SIGINT, SIGTERM, SIGHUP, and when the output is no longer read. */
  readonly signal: AbortSignal;
  /** The configuration, if it was already loaded for this command. */
  readonly config?: LoadedConfig | undefined;
  /** Opens a shared host instead of one for this command alone. */
  readonly openHost?: OpenHost | undefined;
  /** Asks a person at the terminal of another process; undefined: `output.canAsk` decides. */
  readonly elicit?: Questioned['elicit'];
  /** Arguments after `--`, as typed; undefined without `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

export type OpenHost = (need: Need) => Promise<CommandHost>;

/** One command: declares its arguments and flags, and runs it. Resolves to the exit status. */
export interface CliCommand {
  configure(command: Command): void;
  run(context: Context, args: readonly string[], flags: Flags): Promise<number>;
}

/** Values of flags from commander: text, lists of text, or booleans. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** A row of the command table: enough for `--help` and suggestions without loading the command. */
export interface CommandRow {
  readonly name: string;
  readonly alias?: string;
  readonly group: string;
  readonly summary: string;
  /** Has a flag `--server` of its own instead of the global one. */
  readonly hasServerFlag?: true;
  /** For programs rather than people: documented, but not in the list of commands. */
  readonly hidden?: true;
  load(): Promise<CliCommand>;
}

export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

export function listFlag(flags: Flags, name: string): readonly string[] {
  const value = flags[name];
  return Array.isArray(value) ? value : [];
}

/** Collects the values of a flag that may be repeated. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}
