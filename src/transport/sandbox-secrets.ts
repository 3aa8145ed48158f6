/** Where people keep keys and logins: hidden from every confined process, whatever else it may see. */

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../lib/inside.ts';
import type { Mounts } from './sandbox-mounts.ts';

/** In the person's home. */
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
  // Other agents: their own logins, and those of the servers that they use.
  '.claude',
  '.claude.json',
  '.codex',
  '.cursor',
  '.gemini',
  '.local/share/opencode',
  // Cookies, mail and typed commands.
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
  /** The person's home. */
  readonly person: string;
  /** Plugboard's own home. */
  readonly own: string;
  /** Folders that the process works in: what holds one of them cannot be hidden from it. */
  readonly work: readonly string[];
}

/** Real paths: hiding a link would leave its target. */
export function secretPlaces({ person, own }: Pick<Hidden, 'person' | 'own'>): readonly string[] {
  const places = [...SECRET_PLACES.map((place) => join(person, place)), own];
  return places.filter((place) => existsSync(place)).map((place) => realpathSync(place));
}

/** Covers every secret place that the mounts would show. */
export function hideSecrets(mounts: Mounts, { person, own, work }: Hidden, wholeHome: boolean): void {
  // A tool that was installed in a folder of that kind was shown for a reason.
  const dotFiles = wholeHome ? [] : dotFilesOf(person).filter((place) => !mounts.has(place));
  for (const place of [...secretPlaces({ person, own }), ...dotFiles]) {
    if (!mounts.shows(place) || work.some((folder) => isInside(folder, place))) continue;
    mounts.set(place, { kind: statSync(place).isDirectory() ? 'private' : 'nothing' });
  }
}

/** Every program keeps its logins in another of them, so a home that is shown is shown without. */
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
