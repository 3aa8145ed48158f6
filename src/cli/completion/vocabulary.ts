/** What can be typed after `plugboard`, as data: the commands, their flags, and what stands where. */

/** One of a few values, with what it means. */
export interface Word {
  readonly value: string;
  readonly about?: string;
  /** Something follows at once, as after `key=`. */
  readonly open?: boolean;
}

/** Kinds whose values are looked up in files. */
export type NamedKind =
  | 'server'
  | 'enabled-server'
  | 'disabled-server'
  | 'approvable-server'
  | 'remote-server'
  /** A server, or a server and its tool in one word. */
  | 'called-server'
  /** A key that the server's entry has. */
  | 'entry-key'
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'input'
  | 'plugin'
  | 'token';

/** What an argument is; a list has all that it may be. */
export type ArgumentKind =
  | NamedKind
  | 'parameter'
  | 'prompt-parameter'
  | 'folder'
  | 'file'
  | 'text'
  | { readonly words: readonly Word[]; readonly orFile?: boolean }
  | { readonly byAction: Readonly<Record<string, ArgumentKind>> };

export interface FlagWords {
  readonly names: readonly string[];
  readonly about: string;
  /** What the next word is, for flags that take one. */
  readonly value?: ArgumentKind;
  /** The value may be left out. */
  readonly optional?: boolean;
}

export interface CommandWords {
  readonly name: string;
  readonly alias?: string;
  readonly about: string;
  readonly flags: readonly FlagWords[];
  readonly arguments: readonly ArgumentKind[];
  /** The last argument may be given again. */
  readonly repeats: boolean;
}

export interface Vocabulary {
  readonly commands: readonly CommandWords[];
  /** Flags of every command. */
  readonly flags: readonly FlagWords[];
}
