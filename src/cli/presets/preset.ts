/** Defines presets: a well-known server, the values it needs, and the entry built from them. */

/** A value that only the person can supply. */
export type Need =
  | {
      readonly kind: 'argument';
      /** Key on the command line: `folder=src`. */
      readonly key: string;
      readonly description: string;
      /** Used if no value is given; without a fallback the value is asked for. */
      readonly fallback?: string;
      /** A file or folder; a relative path is resolved from the person's folder. */
      readonly isPath?: true;
      /** The fallback is the project folder. */
      readonly isProject?: true;
    }
  | {
      readonly kind: 'secret';
      readonly key: string;
      readonly description: string;
      /** Environment variable that conventionally contains it. */
      readonly variable: string;
      /** Where to get the secret. */
      readonly where: string;
    };

export type Entry = Readonly<Record<string, unknown>>;

/** Values by the key of each need; a secret is `${VARIABLE}`. */
export type Values = Readonly<Record<string, string>>;

interface Described {
  readonly id: string;
  /** Purpose of the server. */
  readonly title: string;
  readonly needs?: readonly Need[];
  /** Note to print after the server is added. */
  readonly note?: string;
}

/** A package on npm. */
export interface PackagePreset extends Described {
  readonly package: string;
  /** The tested version; `version=latest` selects another. */
  readonly version: string;
  readonly args?: (values: Values) => readonly string[];
  readonly env?: (values: Values) => Readonly<Record<string, string>>;
}

/** A public server run by its maker. */
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
  /** Version of the package if not the tested one. */
  readonly version: string | undefined;
  /** The argv that starts this program. */
  readonly ownProgram: readonly string[];
  /** Reference to the project folder in an entry of this scope. */
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
