/** Finds where the credentials of a server's next request come from, without loading the code that fetches them. */

import type { RemoteEntry } from '../config/entry.ts';
import type { SecretPlace } from '../secrets/store.ts';
import type { Logins } from './logins.ts';

export type CredentialPlace = SecretPlace | 'env' | 'none';

/** Returns the place of the credentials; opens the logins only if one could be used, since that is the slowest step. */
export async function credentialPlace(
  entry: RemoteEntry,
  env: NodeJS.ProcessEnv,
  logins: () => Logins | Promise<Logins>,
): Promise<CredentialPlace> {
  if (usesEnvironment(entry, env)) return 'env';
  if (namesAuthorization(entry.headers) || entry.oauth === false) return 'none';
  // Machine grants fetch new tokens; nothing is stored.
  if (typeof entry.oauth === 'object' && entry.oauth.grant !== undefined) return 'none';
  const kept = await logins();
  if (!kept.mayHave(entry.url)) return 'none';
  const stored = await kept.read(entry.url);
  return stored?.tokens === undefined ? 'none' : ((await kept.place(entry.url)) ?? 'none');
}

/** True if Authorization is configured to come from the environment. */
function usesEnvironment(entry: RemoteEntry, env: NodeJS.ProcessEnv): boolean {
  if (namesAuthorization(entry.headersFromEnv)) return true;
  return entry.bearerTokenEnvVar !== undefined && Boolean(env[entry.bearerTokenEnvVar]);
}

function namesAuthorization(headers: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
}
