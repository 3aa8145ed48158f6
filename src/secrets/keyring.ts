/** Stores secrets in the operating system's keyring; every operation rejects if there is none. */

import { createHash } from 'node:crypto';
import { loadNative } from '../lib/native-module.ts';
import { aborted } from '../lib/waits.ts';
import type { SecretBackend } from './store.ts';

/** A locked keyring may wait for a person who is absent. */
const KEYRING_TIMEOUT_MS = 10_000;
const SERVICE = 'plugboard';

/** `owner` separates two home folders of one person that share one keyring. */
export function keyringSecrets(owner: string): SecretBackend {
  const prefix = createHash('sha256').update(owner).digest('hex').slice(0, 12);
  // After a failure the keyring is not tried again: each attempt could take the whole timeout.
  let missing: Error | undefined;

  const use = async <T>(key: string, work: (entry: Entry, signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (missing !== undefined) throw missing;
    const signal = AbortSignal.timeout(KEYRING_TIMEOUT_MS);
    const { AsyncEntry } = loadKeyring();
    // Without this option Linux falls back to the kernel's keyring, which is cleared at the next boot.
    const entry = new AsyncEntry(SERVICE, `${prefix}:${key}`, { linux: { store: 'secret-service' } });
    return Promise.race([work(entry, signal), aborted(signal)]);
  };

  const useOrMiss: typeof use = async (key, work) => {
    try {
      return await use(key, work);
    } catch (error) {
      missing = new Error('The system keyring cannot be used.', { cause: error });
      throw missing;
    }
  };

  const keys = async (): Promise<string[]> => {
    const { findCredentialsAsync } = loadKeyring();
    const signal = AbortSignal.timeout(KEYRING_TIMEOUT_MS);
    const all = await Promise.race([findCredentialsAsync(SERVICE, undefined, signal), aborted(signal)]);
    return all.flatMap(({ account }) =>
      account.startsWith(`${prefix}:`) ? [account.slice(prefix.length + 1)] : [],
    );
  };

  return {
    get: (key) => useOrMiss(key, async (entry, signal) => (await entry.getPassword(signal)) ?? undefined),
    set: async (key, value) => {
      // Reads first: an unreadable keyring is treated as missing, one that rejects this value (too long) is not.
      await useOrMiss(key, (entry, signal) => entry.getPassword(signal));
      await use(key, (entry, signal) => entry.setPassword(value, signal));
    },
    delete: (key) => useOrMiss(key, (entry, signal) => entry.deletePassword(signal)),
    keys,
    clear: async () => {
      const own = await keys();
      for (const key of own) await use(key, (entry, given) => entry.deletePassword(given));
      return own.length;
    },
  };
}

/** Throws if the native module is not installed. */
function loadKeyring(): typeof import('@napi-rs/keyring') {
  return loadNative('@napi-rs/keyring') as typeof import('@napi-rs/keyring');
}

interface Entry {
  getPassword(signal: AbortSignal): Promise<string | null>;
  setPassword(value: string, signal: AbortSignal): Promise<void>;
  deletePassword(signal: AbortSignal): Promise<boolean>;
}
