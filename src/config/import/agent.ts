/** What has to be known about another agent to read its servers and to write Plugboard into its configuration. */

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

/** Where to look: nothing here is read from the process, so that any machine can be described. */
export interface Where {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The person's home folder. */
  readonly userHome: string;
  readonly projectRoot: string;
}

/** Whom what a file says is for. What comes with a project stays a matter of consent. */
export type ForeignScope = 'local' | 'project' | 'user';

export interface ForeignFile {
  readonly path: string;
  readonly format: 'json' | 'toml';
  readonly scope: ForeignScope;
  /** Others use it too, or it is the old place: servers are read from it and none is written. */
  readonly readOnly?: true;
}

/** One entry as it stands in a foreign file. */
export interface ForeignEntry {
  readonly name: string;
  readonly value: unknown;
  readonly scope: ForeignScope;
  /** Its place in the file. */
  readonly path: readonly string[];
}

/** One file of an agent that was read. */
export interface ForeignSettings {
  readonly file: ForeignFile;
  readonly value: Readonly<Record<string, unknown>>;
}

/** What the rest of an agent's settings decides about one server. */
export interface Around {
  /** Where it is switched off; undefined if it is not. */
  readonly off?: string | undefined;
  /** Values for keys that the entry itself leaves open. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** A program to start, as every agent can be told of one. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the program needs from the agent's environment, for agents that hand on only a part of theirs. */
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
  /** As its makers write it. */
  readonly title: string;
  /** Files that may hold servers, the stronger ones first. The first of a scope that may be written is where a new one is made. */
  files(where: Where): readonly ForeignFile[];
  /** The entries of one file. */
  entries(value: Readonly<Record<string, unknown>>, file: ForeignFile, where: Where): readonly ForeignEntry[];
  /** One entry in our words. */
  translate(value: Readonly<Record<string, unknown>>): Translated;
  /** Files without servers that switch servers on and off. */
  switchFiles?(where: Where): readonly ForeignFile[];
  /** What the agent's settings outside of an entry say about it. */
  around?(
    server: Pick<ForeignEntry, 'name' | 'scope'>,
    settings: readonly ForeignSettings[],
    where: Where,
  ): Around;
  /** Questions for secrets that entries of this file refer to. */
  inputs?(value: Readonly<Record<string, unknown>>): readonly unknown[];
  /** Where a server called `name` is written in a file that holds this. */
  placeOf(value: unknown, name: string): readonly string[];
  /** How the agent writes a program. */
  entryFor(program: Program): Readonly<Record<string, unknown>>;
  /** Variables that an entry of `entryFor` names. */
  variablesIn?(entry: Readonly<Record<string, unknown>>): readonly string[];
  /** A folder that exists where the agent is installed, for agents whose files are not in a folder of their own. */
  folder?(where: Where): string;
  /**
   * Place of the list of servers that are switched off in this project alone, in the agent's own user file; absent
   * if the agent has no such list.
   */
  switchedOffPath?(value: unknown, where: Where): readonly string[];
}
