/** Credentials as the configuration commands see them: where they come from, and a client's secret put away safely. */

import type { ServerAuth } from '../auth/create.ts';
import { isStdio, type ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import { systemClock } from '../lib/clock.ts';
import type { Context } from './verb.ts';

export type CredentialPlace = Awaited<ReturnType<ServerAuth['credentialPlace']>>;

/** Where the next request's credentials would come from; undefined for servers on this machine and unset variables. */
export async function credentialPlace(
  context: Context,
  spec: ServerSpec,
): Promise<CredentialPlace | undefined> {
  if (isStdio(spec.entry)) return undefined;
  const { createServerAuth } = await import('../auth/create.ts');
  const logins = await openLogins(context);
  try {
    const entry = expandEntry(spec, context.env);
    if (isStdio(entry)) return undefined;
    const auth = createServerAuth({ server: spec.name, entry, env: context.env, logins, clock: systemClock });
    try {
      return await auth.credentialPlace();
    } finally {
      auth.close();
    }
  } catch {
    return undefined; // The entry cannot be filled in; `test` says why.
  } finally {
    logins.close();
  }
}

/** Takes a secret that was typed out of an entry, so that no file holds it; a `${VAR}` may stay. */
export function takeClientSecret(raw: Record<string, unknown>): {
  raw: Record<string, unknown>;
  secret?: string;
} {
  const { oauth } = raw;
  if (typeof oauth !== 'object' || oauth === null || !('clientSecret' in oauth)) return { raw };
  const { clientSecret, ...rest } = oauth;
  if (typeof clientSecret !== 'string' || clientSecret.includes('${')) return { raw };
  return { raw: { ...raw, oauth: rest }, secret: clientSecret };
}

/** Puts a client's secret into the keyring (or its fallback) under the server's url. */
export async function keepClientSecret(
  context: Context,
  url: string,
  secret: string,
): Promise<'keyring' | 'file'> {
  const logins = await openLogins(context);
  try {
    return await logins.keepClientSecret(url, secret);
  } finally {
    logins.close();
  }
}

async function openLogins(context: Context): Promise<import('../auth/logins.ts').Logins> {
  const { home, env, output } = context;
  const [{ Logins }, { openSecrets }] = await Promise.all([
    import('../auth/logins.ts'),
    import('../secrets/store.ts'),
  ]);
  const secrets = openSecrets({ home, env, notice: (message) => output.note(message) });
  return new Logins({ home, secrets, clock: systemClock });
}
