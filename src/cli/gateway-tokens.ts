/** The two kinds of tokens for commands that serve HTTP: named call tokens, and one management token. */

import { PlugboardError } from '../errors.ts';
import type { NewToken } from '../serve/token-file.ts';
import { type Context, type Flags, textFlag } from './cli-command.ts';
import { readSecret } from './secret-flag.ts';

/** Reads the call token given to `serve`; with --issuer or --no-auth it is never read from the environment. */
export function givenToken(context: Context, flags: Flags): Promise<string | undefined> {
  const env = flags['auth'] !== false && textFlag(flags, 'issuer') === undefined;
  return readSecret(
    context,
    flags,
    { value: 'token', file: 'tokenFile', flag: '--token', variable: 'PLUGBOARD_TOKEN' },
    { env },
  );
}

/** Imports the token of 0.1.0, with a note the first time. */
export async function adoptOldToken({ home, output }: Pick<Context, 'home' | 'output'>): Promise<void> {
  const { adoptOldToken: adopt, OLD_TOKEN_NOTE } = await import('../serve/token-file.ts');
  if (await adopt(home, Date.now())) output.note(`note: ${OLD_TOKEN_NOTE}`);
}

/** Creates a token if the home has none; undefined if it has some. */
export async function firstToken({ home }: Pick<Context, 'home'>): Promise<NewToken | undefined> {
  const { addToken, DEFAULT_NAME, readTokenFile, tokenFileOf } = await import('../serve/token-file.ts');
  if (readTokenFile(tokenFileOf(home)).tokens.length > 0) return undefined;
  return addToken(home, DEFAULT_NAME, { now: Date.now() });
}

/** Returns the plain-text token file of 0.1.0 while its token is valid. */
export async function plainTokenFile({ home }: Pick<Context, 'home'>): Promise<string | undefined> {
  const { hashOf, oldToken, readTokenFile, tokenFileOf } = await import('../serve/token-file.ts');
  const old = await oldToken(home);
  const isStored =
    old !== undefined &&
    readTokenFile(tokenFileOf(home)).tokens.some(({ hash }) => hash === hashOf(old.token));
  return isStored ? old?.file : undefined;
}

/** Returns the token of the page. @throws PlugboardError USAGE if it was also given as a call token. */
export async function pageToken(
  { home }: Pick<Context, 'home'>,
  given?: string | undefined,
): Promise<{ readonly token: string; readonly file: string }> {
  const { manageToken } = await import('../manage/manage-token.ts');
  const kept = await manageToken(home);
  if (kept.token === given) {
    throw new PlugboardError('USAGE', 'The token of the dashboard cannot be used for agents', {
      hint: 'Add one for agents: plugboard token add <name>',
    });
  }
  return kept;
}
