/** Locations of keys and logins, which are hidden from every confined process. */

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../lib/inside.ts';
import type { Mounts } from './sandbox-mounts.ts';

/** Relative to the user's home folder. */
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

export interface Hidden {
  /** The user's home folder. */
  readonly person: string;
  /** Plugboard's home folder. */
  readonly own: string;
  /** Working folders of the process: a folder that contains one of them cannot be hidden. */
  readonly work: readonly string[];
}

/** Returns real paths: hiding a link would not hide its target. */
export function secretPlaces({ person, own }: Pick<Hidden, 'person' | 'own'>): readonly string[] {
  const places = [...SECRET_PLACES.map((place) => join(person, place)), own];
  return places.filter((place) => existsSync(place)).map((place) => realpathSync(place));
}

/** Covers every secret location that the mounts would show. */
export function hideSecrets(mounts: Mounts, { person, own, work }: Hidden, wholeHome: boolean): void {
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
