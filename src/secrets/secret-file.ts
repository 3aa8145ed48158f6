/** Stores secrets in `credentials.json`, readable by its owner only: the fallback for machines without a keyring. */

import { isUtf8 } from 'node:buffer';
import { chmod, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { SecretBackend, SecretHome } from './store.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export function fileSecrets(home: SecretHome): SecretBackend {
  const file = home.credentials;
  const lockDir = join(home.run, 'locks');

  const change = async (edit: (secrets: Map<string, string>) => boolean): Promise<boolean> => {
    let changed = false;
    try {
      await makeFolder(dirname(file), FOLDER_MODE);
      await tighten(file);
      await updateFile(
        file,
        (text) => {
          const secrets = parse(text, file);
          changed = edit(secrets);
          return changed ? serialize(secrets) : undefined;
        },
        { lockDir, mode: FILE_MODE },
      );
    } catch (error) {
      throw error instanceof PlugboardError ? error : unusable(file, error);
    }
    return changed;
  };

  return {
    async get(key) {
      return parse(await readIfThere(file), file).get(key);
    },
    async set(key, value) {
      await change((secrets) => {
        if (secrets.get(key) === value) return false;
        secrets.set(key, value);
        return true;
      });
    },
    async delete(key) {
      // Usually the key does not exist; reading first avoids a lock and creating the folder.
      if (!parse(await readIfThere(file), file).has(key)) return false;
      return change((secrets) => secrets.delete(key));
    },
    async keys() {
      return [...parse(await readIfThere(file), file).keys()];
    },
    async clear() {
      const { size } = parse(await readIfThere(file), file);
      if (size > 0) {
        await change((secrets) => {
          secrets.clear();
          return true;
        });
      }
      return size;
    },
  };
}

async function readIfThere(file: string): Promise<string | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw unusable(file, error);
  }
  // Decoding would silently replace bytes that are not UTF-8, and a slightly wrong secret is worse than none.
  if (!isUtf8(bytes)) throw unusable(file);
  return bytes.toString('utf8');
}

function unusable(file: string, cause?: unknown): PlugboardError {
  const code = errorCode(cause);
  const why = code === undefined || code === 'ENOTUTF8' ? '' : ` (${code})`;
  return new PlugboardError('CONFIG_UNWRITABLE', `${file} is not a credentials file that can be read${why}`, {
    hint: 'Fix it, or move it away and log in again.',
    cause,
  });
}

/** Restores the mode of a file that was copied or restored with a wider one, before a secret is written. */
async function tighten(file: string): Promise<void> {
  const info = await stat(file).catch(() => undefined);
  if (info !== undefined && (info.mode & 0o077) !== 0) await chmod(file, FILE_MODE);
}

function parse(text: string | undefined, file: string): Map<string, string> {
  if (text === undefined || text.trim() === '') return new Map();
  // Without the parser's message: it quotes the text near the error, which may be a secret.
  const secrets = parseRecord(text)?.['secrets'];
  if (!isRecord(secrets)) throw unusable(file);
  const entries = Object.entries(secrets);
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function serialize(secrets: Map<string, string>): string {
  const sorted = [...secrets].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ version: 1, secrets: Object.fromEntries(sorted) }, null, 2)}\n`;
}
