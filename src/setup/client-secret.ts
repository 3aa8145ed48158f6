/** Credentials in configuration commands: reports where they come from and stores a client's secret. */

import type { CredentialPlace } from '../auth/credential-place.ts';
import type { Logins } from '../auth/logins.ts';
import { isRemote, type RemoteEntry, type ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import { PlugboardError } from '../errors.ts';
import { systemClock } from '../lib/clock.ts';
import type { SecretPlace } from '../secrets/store.ts';
import type { SetupContext } from './setup-context.ts';

/** Returns the source of the next request's credentials; undefined for local servers and unset variables. */
export async function placeOfCredentials(
  context: SetupContext,
  spec: ServerSpec,
): Promise<CredentialPlace | undefined> {
  if (!isRemote(spec.entry)) return undefined;
  const { credentialPlace } = await import('../auth/credential-place.ts');
  let logins: Logins | undefined;
  try {
    const entry = expandEntry(spec, context.env);
    if (!isRemote(entry)) return undefined;
    return await credentialPlace(entry, context.env, async () => {
      logins = await openLogins(context, spec, entry);
      return logins;
    });
  } catch {
    return undefined; // The entry cannot be expanded; `test` reports why.
  } finally {
    logins?.close();
  }
}

/** Stores a client's secret in the keyring (or its fallback) for this owner, url and issuer. `spec`: as expanded. */
export async function keepClientSecret(
  context: SetupContext,
  spec: ServerSpec,
  secret: string,
): Promise<SecretPlace> {
  const { entry } = spec;
  if (!isRemote(entry)) throw new PlugboardError('USAGE', `${spec.name} has no address to log in to`);
  const logins = await openLogins(context, spec, entry);
  try {
    return await logins.keepClientSecret(entry.url, secret);
  } finally {
    logins.close();
  }
}

async function openLogins(context: SetupContext, spec: ServerSpec, entry: RemoteEntry): Promise<Logins> {
  const { home, env, note = () => {} } = context;
  const [{ Logins }, { HomeTraces }, { accountOf }, { openSecrets }] = await Promise.all([
    import('../auth/logins.ts'),
    import('../auth/home-traces.ts'),
    import('../auth/account.ts'),
    import('../secrets/store.ts'),
  ]);
  const secrets = openSecrets({ home, env, notice: note });
  const traces = new HomeTraces(home, systemClock);
  return new Logins({ secrets, traces, clock: systemClock, account: accountOf(spec, entry) });
}
