/** The two kinds of token for commands that serve over HTTP: named ones that call, and one that manages. */

import { PlugboardError } from '../errors.ts';
import type { NewToken } from '../serve/token-file.ts';
import { readSecret } from './secret-flag.ts';
import { type Context, type Flags, textFlag } from './verb.ts';

/** Reads the calling token that was given to `serve`; that of an issuer's gateway never comes from the environment. */
export function givenToken(context: Context, flags: Flags): Promise<string | undefined> {
  const env = flags['auth'] !== false && textFlag(flags, 'issuer') === undefined;
  return readSecret(
    context,
    flags,
    { value: 'token', file: 'tokenFile', flag: '--token', variable: 'PLUGBOARD_TOKEN' },
    { env },
  );
}

/** Takes over the token of 0.1.0, and says so the one time that it does. */
export async function adoptOldToken({ home, output }: Pick<Context, 'home' | 'output'>): Promise<void> {
  const { adoptOldToken: adopt, OLD_TOKEN_NOTE } = await import('../serve/token-file.ts');
  if (await adopt(home, Date.now())) output.note(`note: ${OLD_TOKEN_NOTE}`);
}

/** Makes the token of a home that has none; undefined if it has some. */
export async function firstToken({ home }: Pick<Context, 'home'>): Promise<NewToken | undefined> {
  const { addToken, DEFAULT_NAME, readTokenFile, tokenFileOf } = await import('../serve/token-file.ts');
  if (readTokenFile(tokenFileOf(home)).tokens.length > 0) return undefined;
  return addToken(home, DEFAULT_NAME, { now: Date.now() });
}

/** The plain file of 0.1.0, for as long as its token is valid. */
export async function plainTokenFile({ home }: Pick<Context, 'home'>): Promise<string | undefined> {
  const { hashOf, oldToken, readTokenFile, tokenFileOf } = await import('../serve/token-file.ts');
  const old = await oldToken(home);
  const isStored =
    old !== undefined &&
    readTokenFile(tokenFileOf(home)).tokens.some(({ hash }) => hash === hashOf(old.token));
  return isStored ? old?.file : undefined;
}

/** The token of the page. @throws PlugboardError USAGE if it was given as a calling token as well. */
export async function pageToken(
  { home }: Pick<Context, 'home'>,
  given?: string | undefined,
): Promise<{ readonly token: string; readonly file: string }> {
  const { manageToken } = await import('../manage/manage-token.ts');
  const kept = await manageToken(home);
  if (kept.token === given) {
    throw new PlugboardError('USAGE', 'The token of the page cannot be the token of agents', {
      hint: 'Make one for agents with: plugboard token add <name>',
    });
  }
  return kept;
}
