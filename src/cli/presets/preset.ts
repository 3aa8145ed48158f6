/** What a preset is: a well-known server, what it needs, and the entry that follows from that. */

/** Something that nobody can know but the person. */
export type Need =
  | {
      readonly kind: 'argument';
      /** As it is given: `folder=src`. */
      readonly key: string;
      readonly description: string;
      /** Taken when nothing is given; without one it is asked for. */
      readonly fallback?: string;
      /** A file or folder; a relative one begins where the person is. */
      readonly isPath?: true;
      /** The fallback is the project. */
      readonly isProject?: true;
    }
  | {
      readonly kind: 'secret';
      readonly key: string;
      readonly description: string;
      /** The variable of the environment that holds it by custom. */
      readonly variable: string;
      /** Where to get one. */
      readonly where: string;
    };

export type Entry = Readonly<Record<string, unknown>>;

/** A value for the key of each need; of a secret, `${VARIABLE}`. */
export type Values = Readonly<Record<string, string>>;

interface Described {
  readonly id: string;
  /** What it is good for. */
  readonly title: string;
  readonly needs?: readonly Need[];
  /** What the person should know once it is added. */
  readonly note?: string;
}

/** A program from npm. */
export interface PackagePreset extends Described {
  readonly package: string;
  /** The one that was tried; `version=latest` takes another. */
  readonly version: string;
  readonly args?: (values: Values) => readonly string[];
  readonly env?: (values: Values) => Readonly<Record<string, string>>;
}

/** A server that somebody runs for everybody. */
export interface RemotePreset extends Described {
  readonly url: string;
  readonly headers?: (values: Values) => Readonly<Record<string, string>>;
}

/** Our own workspace server. */
export interface OwnPreset extends Described {
  readonly own: true;
}

export type Preset = PackagePreset | RemotePreset | OwnPreset;

export interface EntryOptions {
  /** The version of a package, when it is not to be the one that was tried. */
  readonly version: string | undefined;
  /** How this program is started. */
  readonly ownProgram: readonly string[];
  /** How an entry of this scope refers to the project. */
  readonly project: string;
}

export function entryOf(
  preset: Preset,
  values: Values,
  { version, ownProgram, project }: EntryOptions,
): Entry {
  if ('url' in preset) {
    const headers = preset.headers?.(values);
    return { type: 'http', url: preset.url, ...(headers === undefined ? {} : { headers }) };
  }
  if ('own' in preset) {
    const [command = 'plugboard', ...args] = ownProgram;
    return { command, args: [...args, 'workspace', project] };
  }
  const env = preset.env?.(values);
  return {
    command: 'npx',
    args: ['-y', `${preset.package}@${version ?? preset.version}`, ...(preset.args?.(values) ?? [])],
    ...(env === undefined ? {} : { env }),
  };
}
