/** The gateway's own token: made once, kept in the home for its owner's eyes only, printed when it is new. */

import { randomBytes } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';

const FILE_NAME = 'gateway-token';
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{20,512}$/;

export interface GatewayToken {
  readonly token: string;
  /** True when it was made just now, and nobody has seen it yet. */
  readonly isNew: boolean;
  readonly file: string;
}

/** The token of this home; two gateways that start at once agree on one. */
export async function gatewayToken(home: {
  readonly dir: string;
  readonly run: string;
}): Promise<GatewayToken> {
  const file = join(home.dir, FILE_NAME);
  await makeFolder(dirname(file), FOLDER_MODE);
  await tighten(file);
  let token = (await readFile(file, 'utf8').catch(() => '')).trim();
  // A file is put in place whole: what reads as a token is one, and needs no lock.
  if (TOKEN.test(token)) return { token, isNew: false, file };
  let isNew = false;
  await updateFile(
    file,
    (text) => {
      token = (text ?? '').trim();
      isNew = token === '';
      if (!isNew) return undefined;
      token = randomBytes(TOKEN_BYTES).toString('base64url');
      return `${token}\n`;
    },
    { lockDir: join(home.run, 'locks'), mode: FILE_MODE },
  );
  if (!TOKEN.test(token)) {
    throw new PlugboardError('CONFIG_INVALID', `${file} does not hold a token.`, {
      hint: 'Delete it, and a new one is made.',
    });
  }
  return { token, isNew, file };
}

/** A file that others could read is closed to them before it is trusted with anything. */
async function tighten(file: string): Promise<void> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) await chmod(file, FILE_MODE);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
