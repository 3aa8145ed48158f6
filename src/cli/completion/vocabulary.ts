/** What can be typed after `plugboard`, as data: the commands, their flags, and what stands where. */

/** What an argument is; a list has all that it may be. */
export type ArgumentKind = 'server' | 'tool' | 'parameter' | 'folder' | 'file' | 'text' | readonly string[];

export interface FlagWords {
  readonly names: readonly string[];
  readonly about: string;
  /** What the next word is, for flags that take one. */
  readonly value?: 'folder' | 'file' | 'text' | readonly string[];
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
