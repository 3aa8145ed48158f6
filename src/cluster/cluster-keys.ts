/** The keys that all replicas share: derives one key for each purpose, and seals and opens values with them. */

import { createHash, hkdfSync } from 'node:crypto';
import { PlugboardError } from '../errors.ts';
import { openBytes, sealBytes } from '../lib/sealed-bytes.ts';

const MIN_KEY_BYTES = 32;
const DERIVED_BYTES = 32;
const ID_BYTES = 4;
const KEY_NAME = 'PLUGBOARD_CLUSTER_KEY';
const OLD_NAME = 'PLUGBOARD_CLUSTER_KEY_OLD';

/** One key of the environment, with the keys that are derived from it. */
interface ClusterKey {
  /** Identifies it in sealed values and in handshakes; does not reveal it. */
  readonly id: string;
  readonly idBytes: Buffer;
  readonly seals: Buffer;
  readonly links: Buffer;
}

export class ClusterKeys {
  readonly #current: ClusterKey;
  readonly #old: ClusterKey | undefined;
  /** Whether every replica knows the current key. */
  #isCurrentKnown = true;

  constructor(current: string, old: string | undefined) {
    this.#current = derive(current);
    this.#old = old === undefined ? undefined : derive(old);
  }

  /** Ids of the keys that this replica accepts. */
  get ids(): readonly string[] {
    return this.#all.map(({ id }) => id);
  }

  /** Keys of connections between replicas, the preferred one first. */
  get linkKeys(): readonly { readonly id: string; readonly key: Buffer }[] {
    return this.#all.map(({ id, links }) => ({ id, key: links }));
  }

  /** While a replica does not know the current key, values are sealed with the old one, so that it can open them. */
  peersKnow(idsOfPeers: readonly (readonly string[])[]): void {
    this.#isCurrentKnown = idsOfPeers.every((ids) => ids.includes(this.#current.id));
  }

  /** Encrypts bytes; they can be opened with the same context only. */
  seal(bytes: Uint8Array, context: string): Buffer {
    const key = this.#isCurrentKnown ? this.#current : (this.#old ?? this.#current);
    return Buffer.concat([key.idBytes, sealBytes(key.seals, bytes, context)]);
  }

  /** Returns undefined for a value that was changed, or sealed with another key or context. */
  open(sealed: Uint8Array, context: string): Buffer | undefined {
    const id = Buffer.from(sealed.subarray(0, ID_BYTES));
    const key = this.#all.find(({ idBytes }) => idBytes.equals(id));
    return key === undefined ? undefined : openBytes(key.seals, sealed.subarray(ID_BYTES), context);
  }

  sealText(text: string, context: string): string {
    return this.seal(Buffer.from(text), context).toString('base64url');
  }

  openText(sealed: string, context: string): string | undefined {
    return this.open(Buffer.from(sealed, 'base64url'), context)?.toString('utf8');
  }

  get #all(): readonly ClusterKey[] {
    return this.#old === undefined ? [this.#current] : [this.#current, this.#old];
  }
}

/**
 * Reads the keys from the environment.
 *
 * @throws PlugboardError USAGE if the key is missing, or one is too short.
 */
export function clusterKeysOf(env: Readonly<Record<string, string | undefined>>): ClusterKeys {
  const current = env[KEY_NAME] ?? '';
  const old = env[OLD_NAME] || undefined;
  const hint = `Set ${KEY_NAME} to the same secret for every replica, such as the output of: openssl rand -base64 48`;
  if (current === '') throw new PlugboardError('USAGE', `--cluster needs a key in ${KEY_NAME}`, { hint });
  for (const [name, key] of [
    [KEY_NAME, current],
    [OLD_NAME, old],
  ] as const) {
    if (key !== undefined && Buffer.byteLength(key) < MIN_KEY_BYTES)
      throw new PlugboardError('USAGE', `The key in ${name} is shorter than ${MIN_KEY_BYTES} bytes`, {
        hint,
      });
  }
  return new ClusterKeys(current, old);
}

function derive(secret: string): ClusterKey {
  const keyFor = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `plugboard cluster ${purpose}`, DERIVED_BYTES));
  const idBytes = createHash('sha256').update(keyFor('id')).digest().subarray(0, ID_BYTES);
  return { id: idBytes.toString('hex'), idBytes, seals: keyFor('seals'), links: keyFor('links') };
}
