/** Expands references to environment variables in an entry: at use, and never written back. */

import { resolve } from 'node:path';
import { forSurface, PlugboardError } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import {
  type InputQuestion,
  isInProcess,
  isStdio,
  type OAuthDetails,
  type RemoteEntry,
  type ServerEntry,
  type ServerSpec,
  type StdioEntry,
} from './entry.ts';
import { partsOf } from './reference.ts';
import { isSecretName } from './secret-shapes.ts';

/** Refers to the project root in every entry, regardless of the environment. */
export const PROJECT_REFERENCE = 'PROJECT_DIR';
/** Contains the project root in the environment of a server that refers to it. */
export const PROJECT_VARIABLE = 'PLUGBOARD_PROJECT_DIR';

/** No answers to `${input:id}`. */
const NO_INPUTS: ReadonlyMap<string, string> = new Map();

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the entry with every `${VAR}` and `${VAR:-default}` replaced in command, args, env, cwd, url, headers and
 * oauth. As in a shell, a default also replaces a variable that is set and empty. `$${` gives a plain `${`.
 * `${input:id}` is an answer that is not stored in a file. Values are not expanded again. `cwd` becomes absolute.
 *
 * @example
 * expandEntry(spec, { PORT: '80' }); // 'http://127.0.0.1:${PORT}/mcp' → 'http://127.0.0.1:80/mcp'
 * @throws PlugboardError CONFIG_INVALID with the server's and the variable's name.
 */
export function expandEntry(
  spec: ServerSpec,
  env: Environment,
  inputs: ReadonlyMap<string, string> = NO_INPUTS,
): ServerEntry {
  const { name: server, questions } = spec;
  // Copying the environment is slow, and most entries have no references.
  let known: Environment | undefined;
  const at = (key: string) => (text: string) => {
    if (!text.includes('${')) return text;
    known ??= environmentOf(spec, env);
    return expandText(text, known, { server, key, inputs, questions });
  };
  const { entry } = spec;
  if (isInProcess(entry)) return entry;
  return isStdio(entry) ? expandStdio(entry, spec, at) : expandRemote(entry, spec.name, at);
}

/** Returns the variables that a server's references can use. */
export function environmentOf(
  { variables, baseDir, projectDir = baseDir }: Pick<ServerSpec, 'variables' | 'baseDir' | 'projectDir'>,
  env: Environment,
): Environment {
  return { ...env, ...variables, [PROJECT_REFERENCE]: projectDir };
}

/** Whether an entry refers to its project: then its process depends on the project. */
export function mentionsProject({ command, args = [], env = {}, envVars = [], cwd }: StdioEntry): boolean {
  if (cwd !== undefined) return true;
  const texts = [command, ...args, ...Object.keys(env), ...Object.values(env), ...envVars];
  return texts.some((text) => text.includes(PROJECT_REFERENCE));
}

type Expander = (key: string) => (text: string) => string;

function expandStdio(entry: StdioEntry, spec: ServerSpec, at: Expander): StdioEntry {
  const { baseDir, projectDir = baseDir } = spec;
  const own = entry.env && mapValues(entry.env, at, 'env');
  const project = mentionsProject(entry) ? { [PROJECT_VARIABLE]: projectDir } : undefined;
  const variables = spec.variables || project ? { ...spec.variables, ...project } : undefined;
  return {
    ...entry,
    command: at('command')(entry.command),
    ...(entry.args ? { args: entry.args.map(at('args')) } : {}),
    ...(own || variables ? { env: { ...variables, ...own } } : {}),
    ...(entry.cwd === undefined ? {} : { cwd: resolve(baseDir, at('cwd')(entry.cwd)) }),
  };
}

function expandRemote(entry: RemoteEntry, server: string, at: Expander): RemoteEntry {
  const url = at('url')(entry.url);
  // The message omits the URL, which may contain a key.
  const refused = (what: string): PlugboardError =>
    new PlugboardError('CONFIG_INVALID', what, { server, hint: 'Check the variables that it refers to.' });
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw refused(`The "url" of server "${server}" is not an http or https address`);
  const headers = entry.headers && mapValues(entry.headers, at, 'headers');
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (/[\0\r\n]/.test(value))
      throw refused(`The header "${name}" of server "${server}" has a line break in it`);
  }
  return {
    ...entry,
    url,
    ...(headers ? { headers } : {}),
    ...(typeof entry.oauth === 'object' ? { oauth: expandOAuth(entry.oauth, at) } : {}),
  };
}

function expandOAuth(oauth: OAuthDetails, at: Expander): OAuthDetails {
  const expanded: Record<string, unknown> = { ...oauth };
  for (const key of ['clientId', 'clientSecret', 'authorizationUrl', 'tokenUrl'] as const) {
    const text = oauth[key];
    if (text !== undefined) expanded[key] = at(`oauth.${key}`)(text);
  }
  return expanded;
}

function mapValues(
  record: Readonly<Record<string, string>>,
  at: Expander,
  key: string,
): Record<string, string> {
  const mapped: Record<string, string> = Object.create(null);
  for (const [name, text] of Object.entries(record)) mapped[name] = at(`${key}.${name}`)(text);
  return mapped;
}

/** The location of a text, for the message when it cannot be expanded. */
export interface Place {
  readonly server: string;
  readonly key: string;
  /** Answers to `${input:id}`. */
  readonly inputs?: ReadonlyMap<string, string>;
  /** The questions for them in a project's or plugin's file. */
  readonly questions?: readonly InputQuestion[] | undefined;
}

export function expandText(text: string, env: Environment, place: Place): string {
  return partsOf(text)
    .map((part) => {
      switch (part.kind) {
        case 'literal':
          return part.text;
        case 'escape':
          return '${';
        case 'variable': {
          const value = Object.hasOwn(env, part.name) ? env[part.name] : undefined;
          if (part.fallback !== undefined) return value || part.fallback;
          if (value === undefined) throw unset(part.name, place);
          return value;
        }
        case 'foreign': {
          const value = part.scheme === 'input' ? place.inputs?.get(part.id) : undefined;
          if (value !== undefined) return value;
          throw part.scheme === 'input' ? unanswered(part.id, place) : notAVariable(part.id, place);
        }
        default:
          return part satisfies never;
      }
    })
    .join('');
}

function unset(variable: string, { server, key }: Place): PlugboardError {
  const id = variable.toLowerCase().replaceAll('_', '-');
  // A secret has no default that could be written into a file.
  const instead = isSecretName(variable)
    ? forSurface({
        commands: `write \${input:${id}} in its place and store it once: plugboard input set ${shellWord(id)}`,
        library: `write \${input:${id}} in its place and give createHost an "input" function.`,
      })
    : `write a default: \${${variable}:-value}.`;
  return new PlugboardError(
    'CONFIG_INVALID',
    `Server "${server}" needs the environment variable ${variable} (in "${key}"), and it is not set`,
    {
      server,
      hint: `Set ${variable}, or ${instead}`,
      detail: { missing: { kind: 'variable', name: variable } },
    },
  );
}

function unanswered(id: string, { server, key, questions }: Place): PlugboardError {
  const hasDefault = questions?.some((each) => each.id === id && each.fallback !== undefined) === true;
  const why = hasDefault ? `The default of its file is not used for "${key}". ` : '';
  return new PlugboardError(
    'CONFIG_INVALID',
    `Server "${server}" needs a value for \${input:${id}} (in "${key}"), which is not set`,
    {
      server,
      hint: {
        commands: `${why}Set it once: plugboard input set ${shellWord(id)}`,
        library: `${why}Give createHost an "input" function that asks for it.`,
      },
      detail: { missing: { kind: 'input', name: id } },
    },
  );
}

/** Other agents use this form; treating it as text would pass it on unexpanded. */
function notAVariable(id: string, { server, key }: Place): PlugboardError {
  return new PlugboardError(
    'CONFIG_INVALID',
    `Server "${server}" uses \${env:${id}} (in "${key}"), which cannot be filled in`,
    { server, hint: `Environment variables are written \${${id || 'NAME'}}.` },
  );
}
