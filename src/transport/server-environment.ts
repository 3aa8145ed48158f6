/**
 * Builds the environment of a server's process (CON-3, A21): the variables that a program needs to find its files, the
 * network and the user's language. Tokens and keys can have any name, so no variable is passed because it looks
 * harmless: it is either listed here or named in the entry.
 */

import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import { supplierOf } from '../config/scopes.ts';
import { environmentOutside, isSearchPath } from '../lib/find-program.ts';

const POSIX = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'COLORTERM',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
];

const PROXY = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'NODE_USE_ENV_PROXY'];
const LOWER_CASE_PROXY = PROXY.slice(0, 4).map((name) => name.toLowerCase());

const CERTIFICATES = [
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NIX_SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
  'UV_NATIVE_TLS',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
];

/** Folders in which launchers (npx, uvx, version managers) find programs and caches; never credentials. */
const LAUNCHERS = [
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_CONFIG_DIRS',
  'XDG_DATA_HOME',
  'XDG_DATA_DIRS',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'npm_config_cache',
  'npm_config_prefix',
  'npm_config_userconfig',
  'NPM_CONFIG_CACHE',
  'NPM_CONFIG_PREFIX',
  'NPM_CONFIG_USERCONFIG',
  'NVM_DIR',
  'NVM_BIN',
  'FNM_DIR',
  'FNM_MULTISHELL_PATH',
  'VOLTA_HOME',
  'ASDF_DIR',
  'ASDF_DATA_DIR',
  'MISE_DATA_DIR',
  'PNPM_HOME',
  'BUN_INSTALL',
  'DENO_DIR',
  'PYENV_ROOT',
  'VIRTUAL_ENV',
  'CONDA_PREFIX',
  'UV_CACHE_DIR',
  'UV_TOOL_DIR',
  'UV_PYTHON_INSTALL_DIR',
  'CARGO_HOME',
  'GOPATH',
  'JAVA_HOME',
  'PLAYWRIGHT_BROWSERS_PATH',
  '__CF_USER_TEXT_ENCODING',
];

/** `npx` often needs the registry URL inside a company; a URL with a password is not passed. */
const REGISTRIES = [
  'npm_config_registry',
  'NPM_CONFIG_REGISTRY',
  'UV_INDEX_URL',
  'UV_DEFAULT_INDEX',
  'PIP_INDEX_URL',
];

/** Certificates belong to the machine, a proxy belongs to the current network. */
export function isCertificateVariable(name: string): boolean {
  return CERTIFICATES.includes(name);
}

/** Lets a browser or dialog of the server appear on the user's screen. */
const DISPLAY = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'];

const WINDOWS = [
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMPUTERNAME',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'PUBLIC',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

const COMMON = [
  ...POSIX,
  ...PROXY,
  ...LOWER_CASE_PROXY,
  ...CERTIFICATES,
  ...LAUNCHERS,
  ...REGISTRIES,
  ...DISPLAY,
];

/**
 * Returns the complete environment of a server's process. In order of precedence: the entry's `env`, the variables
 * listed in `envVars`, then the minimum above, or with `inheritEnv` our whole environment.
 *
 * @example
 * childEnvironment({ command: 'npx', env: { LEVEL: 'debug' }, envVars: ['GITHUB_TOKEN'] }, process.env);
 */
export function childEnvironment(
  entry: Pick<StdioEntry, 'env' | 'envVars' | 'inheritEnv'>,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  // Windows variable names are case-insensitive, but a copy of its environment is not.
  const same = (name: string): string => (windows ? name.toUpperCase() : name);
  const passed = new Set((windows ? [...COMMON, ...WINDOWS] : COMMON).map(same));
  const named = new Set((entry.envVars ?? []).map(same));
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const byDefault = passed.has(same(name)) || name.startsWith('LC_');
    if (entry.inheritEnv || named.has(same(name)) || (byDefault && isPlain(name, value))) child[name] = value;
  }
  for (const [name, value] of Object.entries(entry.env ?? {})) {
    if (windows) {
      for (const other of Object.keys(child)) if (same(other) === same(name)) delete child[other];
    }
    child[name] = value;
  }
  return child;
}

/**
 * Returns the environment of a process for one server spec: unless the project itself defines the server, folders that
 * the project can write are removed from the search path.
 */
export function serverEnvironment(
  {
    scope,
    baseDir,
    projectDir = baseDir,
    shielded,
  }: Pick<ServerSpec, 'scope' | 'baseDir' | 'projectDir' | 'shielded'>,
  entry: Pick<StdioEntry, 'env' | 'envVars' | 'inheritEnv'>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const child = childEnvironment(entry, env);
  const isOwnPath =
    (supplierOf({ scope }) === 'project' && shielded !== true) ||
    Object.keys(entry.env ?? {}).some(isSearchPath);
  return isOwnPath ? child : environmentOutside(child, projectDir);
}

function isPlain(name: string, value: string): boolean {
  if (value.startsWith('()')) return false; // a function exported by an old bash: code, not a value
  return !REGISTRIES.includes(name) || !/\/\/[^/]*@/.test(value);
}
