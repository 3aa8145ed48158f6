/** Where the credentials of a server's next request come from, found out without loading what would fetch them. */

import type { RemoteEntry } from '../config/entry.ts';
import type { SecretPlace } from '../secrets/store.ts';
import type { Logins } from './logins.ts';

export type CredentialPlace = SecretPlace | 'env' | 'none';

/** Asks for the logins only where one could be used: opening them costs more than the rest. */
export async function credentialPlace(
  entry: RemoteEntry,
  env: NodeJS.ProcessEnv,
  logins: () => Logins | Promise<Logins>,
): Promise<CredentialPlace> {
  if (usesEnvironment(entry, env)) return 'env';
  if (namesAuthorization(entry.headers) || entry.oauth === false) return 'none';
  // Machine grants fetch their tokens anew: nothing of them is kept.
  if (typeof entry.oauth === 'object' && entry.oauth.grant !== undefined) return 'none';
  const kept = await logins();
  if (!kept.mayHave(entry.url)) return 'none';
  const stored = await kept.read(entry.url);
  return stored?.tokens === undefined ? 'none' : ((await kept.place(entry.url)) ?? 'none');
}

/** True when Authorization comes out of the environment, whatever is in there now. */
function usesEnvironment(entry: RemoteEntry, env: NodeJS.ProcessEnv): boolean {
  if (namesAuthorization(entry.headersFromEnv)) return true;
  return entry.bearerTokenEnvVar !== undefined && Boolean(env[entry.bearerTokenEnvVar]);
}

function namesAuthorization(headers: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
}
