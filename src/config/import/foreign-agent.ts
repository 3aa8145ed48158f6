/** Describes another agent: how to read its servers, and how to write Plugboard into its configuration. */

import type { Translated } from './translation.ts';

export type AgentId =
  | 'claude-code'
  | 'claude-desktop'
  | 'codex'
  | 'opencode'
  | 'cursor'
  | 'vscode'
  | 'gemini'
  | 'windsurf'
  | 'zed'
  | 'pi';

/** Where to look: independent of the current process, so that any machine can be described. */
export interface Where {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly userHome: string;
  readonly projectRoot: string;
}

/** The scope of the servers in a file. Servers from a project require approval. */
export type ForeignScope = 'local' | 'project' | 'user';

export interface ForeignFile {
  readonly path: string;
  readonly format: 'json' | 'toml';
  readonly scope: ForeignScope;
  /** A shared file or an old location: servers are read from it but not written. */
  readonly readOnly?: true;
}

/** One entry in another agent's file. */
export interface ForeignEntry {
  readonly name: string;
  readonly value: unknown;
  readonly scope: ForeignScope;
  /** Its path in the file. */
  readonly path: readonly string[];
}

/** One settings file of an agent. */
export interface ForeignSettings {
  readonly file: ForeignFile;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The effect of an agent's other settings on one server. */
export interface Around {
  /** The file that disables it; undefined if it is enabled. */
  readonly off?: string | undefined;
  /** Values for keys that the entry does not set. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** A program to start, in the form common to all agents. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the program needs from the agent's environment, for agents that pass on only some. */
  readonly variables?: readonly NeededVariable[];
}

export interface NeededVariable {
  readonly name: string;
  /** True if it is set where the entry is written. */
  readonly isSet: boolean;
}

export interface Agent {
  /** `file` for a file of unknown origin. */
  readonly id: AgentId | 'file';
  /** The official name. */
  readonly title: string;
  /** Files that may contain servers, by precedence. A new entry is written to the first writable one of a scope. */
  files(where: Where): readonly ForeignFile[];
  /** Returns the entries of one file. */
  entries(value: Readonly<Record<string, unknown>>, file: ForeignFile, where: Where): readonly ForeignEntry[];
  /** Translates one entry to our format. */
  translate(value: Readonly<Record<string, unknown>>): Translated;
  /** Files without servers that enable and disable servers. */
  switchFiles?(where: Where): readonly ForeignFile[];
  /** Returns the effect of the agent's settings outside of an entry on it. */
  around?(
    server: Pick<ForeignEntry, 'name' | 'scope'>,
    settings: readonly ForeignSettings[],
    where: Where,
  ): Around;
  /** Questions for secrets that entries of this file refer to. */
  inputs?(value: Readonly<Record<string, unknown>>): readonly unknown[];
  /** Returns the path for a server called `name` in a file with this value. */
  placeOf(value: unknown, name: string): readonly string[];
  /** Returns the entry of a program in the agent's format. */
  entryFor(program: Program): Readonly<Record<string, unknown>>;
  /** Returns the variables that an entry of `entryFor` names. */
  variablesIn?(entry: Readonly<Record<string, unknown>>): readonly string[];
  /** A folder that exists if the agent is installed, for agents whose files are not in their own folder. */
  folder?(where: Where): string;
  /**
   * Path of the list of servers that are disabled in this project only, in the agent's user file; absent if the agent
   * has no such list.
   */
  switchedOffPath?(value: unknown, where: Where): readonly string[];
}
