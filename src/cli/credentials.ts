/** Credentials as the configuration commands see them: where they come from, and a client's secret put away safely. */

import type { CredentialPlace } from '../auth/credential-place.ts';
import type { Logins } from '../auth/logins.ts';
import { isStdio, type ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import { systemClock } from '../lib/clock.ts';
import type { Context } from './verb.ts';

/** Where the next request's credentials would come from; undefined for servers on this machine and unset variables. */
export async function placeOfCredentials(
  context: Context,
  spec: ServerSpec,
): Promise<CredentialPlace | undefined> {
  if (isStdio(spec.entry)) return undefined;
  const { credentialPlace } = await import('../auth/credential-place.ts');
  let logins: Logins | undefined;
  try {
    const entry = expandEntry(spec, context.env);
    if (isStdio(entry)) return undefined;
    return await credentialPlace(entry, context.env, async () => {
      logins = await openLogins(context);
      return logins;
    });
  } catch {
    return undefined; // The entry cannot be filled in; `test` says why.
  } finally {
    logins?.close();
  }
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

async function openLogins(context: Context): Promise<Logins> {
  const { home, env, output } = context;
  const [{ Logins }, { openSecrets }] = await Promise.all([
    import('../auth/logins.ts'),
    import('../secrets/store.ts'),
  ]);
  const secrets = openSecrets({ home, env, notice: (message) => output.note(message) });
  return new Logins({ home, secrets, clock: systemClock });
}
