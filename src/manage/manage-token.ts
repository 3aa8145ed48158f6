/**
 * The token of the page and the management API: created once, stored in the home for its owner only, never for
 * agents.
 */

import { randomBytes } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unwritable } from '../config/edit-config.ts';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';

const FILE_NAME = 'manage-token';
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{20,512}$/;

export interface ManageToken {
  readonly token: string;
  readonly file: string;
}

interface TokenPlace {
  readonly dir: string;
  readonly run: string;
}

/** Returns the token of this home; two processes that start at once get the same one. */
export async function manageToken(home: TokenPlace): Promise<ManageToken> {
  const file = join(home.dir, FILE_NAME);
  try {
    return await keptToken(home, file);
  } catch (error) {
    if (error instanceof PlugboardError) throw error;
    const { code, message } = unwritable(file, error);
    throw new PlugboardError(code, message, {
      hint: 'Make the folder writable, free some space, or set PLUGBOARD_HOME to another folder.',
      cause: error,
    });
  }
}

async function keptToken(home: TokenPlace, file: string): Promise<ManageToken> {
  await makeFolder(dirname(file), FOLDER_MODE);
  await tighten(file);
  let token = (await readFile(file, 'utf8').catch(() => '')).trim();
  // The file is replaced atomically: a readable token is complete and needs no lock.
  if (TOKEN.test(token)) return { token, file };
  await updateFile(
    file,
    (text) => {
      token = (text ?? '').trim();
      if (token !== '') return undefined;
      token = randomBytes(TOKEN_BYTES).toString('base64url');
      return `${token}\n`;
    },
    { lockDir: join(home.run, 'locks'), mode: FILE_MODE },
  );
  if (!TOKEN.test(token)) {
    throw new PlugboardError('CONFIG_INVALID', `${file} does not contain a token`, {
      hint: 'Delete the file; a new token is made at the next start.',
    });
  }
  return { token, file };
}

/** Restricts the permissions of a file that others could read before it is used. */
async function tighten(file: string): Promise<void> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) await chmod(file, FILE_MODE);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
