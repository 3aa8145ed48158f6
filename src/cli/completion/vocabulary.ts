/** Types for the commands, flags and arguments that can follow `plugboard`, as data. */

/** One of a fixed set of values, with its description. */
export interface Word {
  readonly value: string;
  readonly about?: string;
  /** The argument continues without a space, as after `key=`. */
  readonly open?: boolean;
}

/** Kinds whose values are looked up in files. */
export type NamedKind =
  | 'server'
  | 'enabled-server'
  | 'disabled-server'
  | 'approvable-server'
  | 'remote-server'
  /** A server, or a server and its tool in one argument. */
  | 'called-server'
  /** A key that exists in the server's entry. */
  | 'entry-key'
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'input'
  | 'plugin'
  | 'token'
  /** A saved program. */
  | 'program'
  /** A profile of `config.json`. */
  | 'profile'
  /** A client of the gateway: of a token, or of `config.json`. */
  | 'client';

/** Kind of an argument; an array lists the allowed values. */
export type ArgumentKind =
  | NamedKind
  | 'parameter'
  | 'prompt-parameter'
  /** A tool with its server in one argument. */
  | 'spelled-tool'
  | 'folder'
  | 'file'
  | 'text'
  | { readonly words: readonly Word[]; readonly orFile?: boolean }
  | { readonly byAction: Readonly<Record<string, ArgumentKind>> };

export interface FlagWords {
  readonly names: readonly string[];
  readonly about: string;
  /** Kind of the flag's value, for flags that take one. */
  readonly value?: ArgumentKind;
  /** The value is optional. */
  readonly optional?: boolean;
}

export interface CommandWords {
  readonly name: string;
  readonly alias?: string;
  readonly about: string;
  readonly flags: readonly FlagWords[];
  readonly arguments: readonly ArgumentKind[];
  /** The last argument may be repeated. */
  readonly repeats: boolean;
}

export interface Vocabulary {
  readonly commands: readonly CommandWords[];
  /** Flags that every command has. */
  readonly flags: readonly FlagWords[];
}
