/** The store for secrets: the system's keyring if available, else a file that only its owner can read. */

import { keyringSecrets } from './keyring.ts';
import { fileSecrets } from './secret-file.ts';

/** `store`: the application's own, see `credential-store.ts`. */
export type SecretPlace = 'keyring' | 'file' | 'store';

export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  /** Returns where the value is stored. */
  set(key: string, value: string): Promise<SecretPlace>;
  delete(key: string): Promise<boolean>;
  /** Returns where a value is stored, if it exists. */
  place(key: string): Promise<SecretPlace | undefined>;
  /** Deletes every secret of this home; returns their number. */
  clear(): Promise<number>;
  /** Returns the keys of all secrets of this home. */
  keys(): Promise<readonly string[]>;
}

/** One storage location for secrets. Rejects if the location is not available. */
export interface SecretBackend extends Omit<SecretStore, 'set' | 'place'> {
  set(key: string, value: string): Promise<void>;
}

/** The paths of the home folder that a store needs. */
export interface SecretHome {
  readonly dir: string;
  readonly credentials: string;
  readonly run: string;
}

export interface SecretStoreOptions {
  readonly home: SecretHome;
  readonly env: NodeJS.ProcessEnv;
  /** Called once when secrets are written to the file because there is no keyring. */
  readonly notice?: ((message: string) => void) | undefined;
}

/** If set to `file`, the keyring is not used: for machines and tests where it must not be accessed. */
export const STORE_VARIABLE = 'PLUGBOARD_CREDENTIALS';

export function openSecrets(options: SecretStoreOptions): SecretStore {
  const file = fileSecrets(options.home);
  const keyring = options.env[STORE_VARIABLE] === 'file' ? undefined : keyringSecrets(options.home.dir);
  let isReported = false;

  const reportOnce = (): void => {
    if (isReported) return;
    isReported = true;
    options.notice?.(
      `No system keyring can be used here; logins are kept in ${options.home.credentials}, readable by you only.`,
    );
  };

  // A value is in the file only if its last write to the keyring failed, so the file takes precedence.
  const find = async (key: string): Promise<{ value: string; place: SecretPlace } | undefined> => {
    const inFile = await file.get(key);
    if (inFile !== undefined) return { value: inFile, place: 'file' };
    const inKeyring = await keyring?.get(key).catch(() => undefined);
    return inKeyring === undefined ? undefined : { value: inKeyring, place: 'keyring' };
  };

  return {
    async get(key) {
      return (await find(key))?.value;
    },
    async place(key) {
      return (await find(key))?.place;
    },
    async set(key, value) {
      if (keyring !== undefined) {
        const kept = await keyring.set(key, value).then(
          () => true,
          () => false,
        );
        if (kept) {
          await file.delete(key);
          return 'keyring';
        }
        reportOnce();
      }
      await file.set(key, value);
      return 'file';
    },
    async delete(key) {
      const fromFile = await file.delete(key);
      const fromKeyring = (await keyring?.delete(key).catch(() => false)) ?? false;
      return fromFile || fromKeyring;
    },
    async keys() {
      const inKeyring = (await keyring?.keys().catch(() => [])) ?? [];
      return [...new Set([...(await file.keys()), ...inKeyring])];
    },
    async clear() {
      const fromFile = await file.clear();
      return fromFile + ((await keyring?.clear().catch(() => 0)) ?? 0);
    },
  };
}
