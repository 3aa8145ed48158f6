/**
 * Table of well-known servers. The package versions were started and listed their tools when this table was last
 * checked; the urls are those that their makers document.
 */

import type { JsonObject } from '../lib/json.ts';

const LOGIN = 'Log in with: plugboard login <name>';

export const PRESETS: readonly Preset[] = [
  {
    id: 'filesystem',
    title: 'files of one folder',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    needs: [
      {
        kind: 'argument',
        key: 'folder',
        description: 'the folder it may use',
        fallback: '${PROJECT_DIR}',
        isPath: true,
        isProject: true,
      },
    ],
    args: ({ folder = '' }) => [folder],
  },
  {
    id: 'git',
    title: 'files and git of this project (built in)',
    own: true,
  },
  { id: 'workspace', title: 'files, search and git of this project (built in)', own: true },
  {
    id: 'github',
    title: 'repositories, issues and pull requests on GitHub',
    url: 'https://api.githubcopilot.com/mcp/',
    needs: [
      {
        kind: 'secret',
        key: 'token',
        description: 'a personal access token',
        variable: 'GITHUB_TOKEN',
        where: 'https://github.com/settings/personal-access-tokens',
      },
    ],
    headers: ({ token = '' }) => ({ Authorization: `Bearer ${token}` }),
  },
  {
    id: 'playwright',
    title: 'a browser that the agent drives',
    package: '@playwright/mcp',
    version: '0.0.83',
  },
  {
    id: 'chrome-devtools',
    title: 'Chrome with its developer tools',
    package: 'chrome-devtools-mcp',
    version: '1.11.0',
  },
  {
    id: 'memory',
    title: 'a memory of facts across conversations',
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    needs: [
      {
        kind: 'argument',
        key: 'file',
        description: 'the file to store them in',
        fallback: '${HOME}/.plugboard-memory.jsonl',
        isPath: true,
      },
    ],
    env: ({ file = '' }) => ({ MEMORY_FILE_PATH: file }),
  },
  {
    id: 'sequential-thinking',
    title: 'thinking step by step, as a tool',
    package: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
  },
  {
    id: 'everything',
    title: 'every feature of the protocol, for tests',
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
  },
  {
    id: 'brave-search',
    title: 'the web, searched with Brave',
    package: '@brave/brave-search-mcp-server',
    version: '2.1.4',
    needs: [
      {
        kind: 'secret',
        key: 'key',
        description: 'a key of the Brave Search API',
        variable: 'BRAVE_API_KEY',
        where: 'https://brave.com/search/api/',
      },
    ],
    args: () => ['--transport', 'stdio'],
    env: ({ key = '' }) => ({ BRAVE_API_KEY: key }),
  },
  {
    id: 'tavily',
    title: 'the web, searched and read with Tavily',
    package: 'tavily-mcp',
    version: '0.2.22',
    needs: [
      {
        kind: 'secret',
        key: 'key',
        description: 'a key of Tavily',
        variable: 'TAVILY_API_KEY',
        where: 'https://app.tavily.com',
      },
    ],
    env: ({ key = '' }) => ({ TAVILY_API_KEY: key }),
  },
  {
    id: 'postgres',
    title: 'a PostgreSQL database, read-only',
    package: '@modelcontextprotocol/server-postgres',
    version: '0.6.2',
    needs: [
      {
        kind: 'secret',
        key: 'url',
        description: 'the address of the database, with user and password',
        variable: 'DATABASE_URL',
        where: 'postgresql://user:password@host:5432/name',
      },
    ],
    args: ({ url = '' }) => [url],
    note: 'It is no longer maintained: give it a database user with read access only.',
  },
  { id: 'context7', title: 'documentation of libraries', url: 'https://mcp.context7.com/mcp' },
  { id: 'cloudflare-docs', title: 'documentation of Cloudflare', url: 'https://docs.mcp.cloudflare.com/mcp' },
  { id: 'microsoft-learn', title: 'documentation of Microsoft', url: 'https://learn.microsoft.com/api/mcp' },
  { id: 'deepwiki', title: 'questions about public repositories', url: 'https://mcp.deepwiki.com/mcp' },
  { id: 'huggingface', title: 'models, datasets and papers', url: 'https://huggingface.co/mcp' },
  { id: 'sentry', title: 'errors and traces', url: 'https://mcp.sentry.dev/mcp', note: LOGIN },
  { id: 'linear', title: 'issues and projects', url: 'https://mcp.linear.app/mcp', note: LOGIN },
  { id: 'notion', title: 'pages and databases', url: 'https://mcp.notion.com/mcp', note: LOGIN },
  { id: 'figma', title: 'designs', url: 'https://mcp.figma.com/mcp', note: LOGIN },
  { id: 'stripe', title: 'payments', url: 'https://mcp.stripe.com', note: LOGIN },
];

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
interface PackagePreset extends Described {
  readonly package: string;
  /** The tested version; `version=latest` selects another. */
  readonly version: string;
  readonly args?: (values: Values) => readonly string[];
  readonly env?: (values: Values) => Readonly<Record<string, string>>;
}

/** A public server run by its maker. */
interface RemotePreset extends Described {
  readonly url: string;
  readonly headers?: (values: Values) => Readonly<Record<string, string>>;
}

/** Our own workspace server. */
interface OwnPreset extends Described {
  readonly own: true;
}

export type Preset = PackagePreset | RemotePreset | OwnPreset;

/** Defines presets: a well-known server, the values it needs, and the entry built from them. */
interface EntryOptions {
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
): JsonObject {
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
