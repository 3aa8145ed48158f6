/**
 * Determines the files that a confined process sees: listed paths, or with `filesystem: "all"` everything except
 * secrets.
 */

import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside, realPath } from '../lib/inside.ts';
import type { SandboxRules } from './sandbox.ts';
import { installationOf, isNarrow, packageOf } from './sandbox-installation.ts';
import { Mounts } from './sandbox-mounts.ts';
import { isCertificateVariable } from './server-environment.ts';

/** Programs and their libraries. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/nix',
  '/gnu',
  '/snap',
  '/run/current-system',
  '/run/opengl-driver',
];

/** Settings that programs require. Not all of /etc: for root, the machine's keys are readable there. */
const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gai.conf',
  'group',
  'host.conf',
  'hosts',
  'java-17-openjdk',
  'java-21-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'locale.conf',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'static',
  'terminfo',
  'timezone',
].map((name) => join('/etc', name));

/** Downloaded packages and browsers, in the home folder. */
const CACHES = [
  '.cache/uv',
  '.local/share/uv',
  '.cache/ms-playwright',
  '.cache/puppeteer',
  '.cache/deno',
  '.bun/install',
  '.local/share/pnpm',
];
/** Variables that relocate them. */
const CACHE_VARIABLES = [
  'UV_CACHE_DIR',
  'UV_TOOL_DIR',
  'UV_PYTHON_INSTALL_DIR',
  'PLAYWRIGHT_BROWSERS_PATH',
  'DENO_DIR',
  'PNPM_HOME',
];

/** Private in every mode: they contain sockets of other programs. */
const PRIVATE = ['/run', '/tmp', '/var/tmp'];
const TEMPORARY_VARIABLES = ['TMPDIR', 'TEMP', 'TMP'];

export interface ViewOptions {
  readonly rules: SandboxRules;
  readonly command: string;
  /** All values in which the entry can name a path: the arguments, and the values of its variables. */
  readonly words: readonly string[];
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly project: string;
  /** The user's home folder. */
  readonly person: string;
  /** Plugboard's home folder. */
  readonly own: string;
  /** The folder of the program, if it is in Plugboard's home: the only visible part of it. */
  readonly installed?: string | undefined;
}

export function viewOf(options: ViewOptions): Mounts {
  const { rules, cwd, project, person, own, env } = options;
  const everything = rules.filesystem === 'all';
  const mounts = new Mounts();
  for (const path of PRIVATE) mounts.set(path, { kind: 'private' });
  mounts.set('/dev', { kind: 'dev' });
  mounts.set('/proc', { kind: 'proc' });
  if (everything) showEverything(mounts, options);
  else showList(mounts, options);
  const isOwnFolder = isInside(cwd, own);
  const writesProject = everything || rules.filesystem === 'project';
  mounts.show(project, writesProject ? 'write' : 'read');
  // A server can write to its private folder if it can write at all.
  if (!isInside(cwd, project) || !mounts.shows(cwd)) {
    mounts.show(cwd, everything || (writesProject && isOwnFolder) ? 'write' : 'read');
  }
  for (const path of listed(rules, 'read', options)) mounts.show(path);
  for (const path of listed(rules, 'write', options)) mounts.show(path, 'write');
  for (const name of TEMPORARY_VARIABLES) {
    const folder = env[name] ?? '';
    if (!isAbsolute(folder) || !isNarrow(folder, person) || mounts.has(folder)) continue;
    if (existsSync(folder) || !mounts.shows(folder)) mounts.set(realPath(folder), { kind: 'private' });
  }
  hideSecrets(mounts, { person, own, work: [project, cwd] }, everything);
  if (options.installed !== undefined) mounts.show(options.installed);
  return mounts;
}

/** Returns the absolute paths that the rules list. `~` is the user's home folder. */
export function listed(
  { filesystem }: SandboxRules,
  right: 'read' | 'write',
  { project, person }: Pick<ViewOptions, 'project' | 'person'>,
): readonly string[] {
  if (typeof filesystem === 'string') return [];
  return (filesystem[right] ?? []).map((path) => resolve(project, path.replace(/^~(?=\/|$)/, person)));
}

function showEverything(mounts: Mounts, { words, command }: ViewOptions): void {
  mounts.set('/', { kind: 'write', from: '/' });
  // For root, files in /sys change kernel settings.
  if (existsSync('/sys')) mounts.set('/sys', { kind: 'read', from: '/sys' });
  for (const path of SYSTEM) if (path.startsWith('/run/')) mounts.show(path);
  mounts.show('/etc/resolv.conf');
  for (const path of pathsIn([command, ...words])) {
    if (PRIVATE.some((folder) => isInside(path, folder))) mounts.show(path, 'write');
  }
}

function showList(mounts: Mounts, options: ViewOptions): void {
  const { command, words, env, cwd, person, own } = options;
  for (const path of SYSTEM) showSystem(mounts, path);
  for (const path of SETTINGS) mounts.show(path);
  mounts.set('/var/run', { kind: 'link', to: '../run' });
  if (isAbsolute(person) && person !== '/') mounts.set(person, { kind: 'private' });
  const secrets = secretPlaces({ person, own });
  const isPublic = (path: string): boolean => {
    const real = realpathSync(path);
    return isNarrow(real, person) && !secrets.some((place) => isInside(real, place));
  };
  const caches = [...CACHES.map((path) => join(person, path)), ...CACHE_VARIABLES.map((name) => env[name])];
  const certificates = Object.entries(env).flatMap(([name, value]) =>
    isCertificateVariable(name) ? (value ?? '').split(delimiter) : [],
  );
  for (const path of [...caches, ...certificates]) {
    if (path !== undefined && isAbsolute(path) && existsSync(path) && isPublic(path)) mounts.show(path);
  }
  const lookup = { searchPath: env['PATH'] ?? '', cwd, person };
  const named = pathsIn(words).flatMap((path) => (isPublic(path) ? packageOf(path, person) : []));
  for (const path of [...installationOf(command, lookup), ...named]) {
    if (existsSync(path) && isPublic(path)) mounts.show(path);
  }
}

/** Keeps a link such as /bin as a link, so that a program has one name. */
function showSystem(mounts: Mounts, path: string): void {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink && dirname(path) === '/') mounts.set(path, { kind: 'link', to: readlinkSync(path) });
  else mounts.show(path);
}

/** Returns the absolute paths of existing files, also within arguments such as `--root=/srv` and shell scripts. */
function pathsIn(words: readonly string[]): readonly string[] {
  const pieces = words.flatMap((word) => [word, ...word.split(/[\s='",;]+/)]);
  return [...new Set(pieces)].filter((piece) => isAbsolute(piece) && existsSync(piece));
}

/** Keys and logins, which are hidden from every confined process; relative to the user's home folder. */
const SECRET_PLACES = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.oci',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/git/credentials',
  '.config/containers',
  '.config/composer',
  '.config/configstore',
  '.config/doctl',
  '.config/op',
  '.config/rclone',
  '.config/sops',
  '.config/age',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.password-store',
  '.terraform.d',
  '.terraformrc',
  '.netrc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  '.pypirc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.bunfig.toml',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.gem/credentials',
  '.composer/auth.json',
  '.s3cfg',
  '.boto',
  '.dockercfg',
  '.databrickscfg',
  '.kaggle',
  '.cache/huggingface/token',
  '.huggingface',
  '.vault-token',
  '.fly',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.Xauthority',
  '.ICEauthority',
  // Other agents: their own logins, and those of their servers.
  '.claude',
  '.claude.json',
  '.codex',
  '.cursor',
  '.gemini',
  '.local/share/opencode',
  // Cookies, mail and shell history.
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
];

interface Hidden {
  /** The user's home folder. */
  readonly person: string;
  /** Plugboard's home folder. */
  readonly own: string;
  /** Working folders of the process: a folder that contains one of them cannot be hidden. */
  readonly work: readonly string[];
}

/** Returns real paths: hiding a link would not hide its target. */
function secretPlaces({ person, own }: Pick<Hidden, 'person' | 'own'>): readonly string[] {
  const places = [...SECRET_PLACES.map((place) => join(person, place)), own];
  return places.filter((place) => existsSync(place)).map((place) => realpathSync(place));
}

/** Covers every secret location that the mounts would show. */
function hideSecrets(mounts: Mounts, { person, own, work }: Hidden, wholeHome: boolean): void {
  // A tool that is installed in such a folder was shown on purpose.
  const dotFiles = wholeHome ? [] : dotFilesOf(person).filter((place) => !mounts.has(place));
  for (const place of [...secretPlaces({ person, own }), ...dotFiles]) {
    if (!mounts.shows(place) || work.some((folder) => isInside(folder, place))) continue;
    mounts.set(place, { kind: statSync(place).isDirectory() ? 'private' : 'nothing' });
  }
}

/**
 * Returns the dot files of a home folder: each program stores its logins in a different one, so all of them are hidden.
 */
function dotFilesOf(person: string): readonly string[] {
  try {
    return readdirSync(person)
      .filter((name) => name.startsWith('.'))
      .map((name) => join(person, name))
      .filter((path) => existsSync(path))
      .map((path) => realpathSync(path));
  } catch {
    return [];
  }
}
