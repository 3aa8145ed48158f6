/** Finds the clients that the gateway refuses, each with the reason, for the people who configure them. */

import type { ClientSetting, Settings } from '../config/entry.ts';
import { EVERY_CLIENT, isChain, profileChain } from '../config/profiles.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { own } from '../lib/json.ts';
import type { StoredToken, TokenFile } from './token-file.ts';

/** Returns the reasons by the names of the clients; `now` in milliseconds since the epoch. */
export function refusedClients(
  settings: Settings,
  { tokens, revoked }: TokenFile,
  now: number,
): ReadonlyMap<string, string> {
  const { clients = {}, brokenClients = [] } = settings;
  const stored = new Map(tokens.map((token) => [token.name, token]));
  const isExpired = ({ expires = Number.POSITIVE_INFINITY }: StoredToken): boolean => expires <= now;
  const ended = new Set(revoked);
  const owners = new Map<string, Set<string>>();
  const owns = (name: string, hash: string): unknown => getOrMake(owners, hash, () => new Set()).add(name);
  for (const token of tokens) if (!isExpired(token)) owns(token.name, token.hash);
  for (const [name, { token }] of Object.entries(clients))
    if (token !== undefined && !ended.has(token.toLowerCase())) owns(name, token.toLowerCase());

  const sharing = (name: string, hashes: readonly (string | undefined)[]): string | undefined => {
    const others = hashes.flatMap((hash) => [...(owners.get(hash?.toLowerCase() ?? '') ?? [])]);
    return others.find((other) => other !== name);
  };
  const reasonFor = (name: string): string | undefined => {
    const token = stored.get(name);
    const client: ClientSetting | undefined = own(clients, name);
    const other = sharing(name, [token?.hash, client?.token]);
    if (other !== undefined) return `${JSON.stringify(other)} has the same token`;
    const profiles = [client?.profile, token?.profile].filter((each) => each !== undefined);
    const [profile, second = profile] = profiles;
    if (profile !== second)
      return `its profile is ${JSON.stringify(second)} in tokens.json and ${JSON.stringify(profile)} in config.json`;
    const chain = profile === undefined ? [] : profileChain(settings, profile);
    if (!isChain(chain)) return chain.message;
    if (brokenClients.includes(name)) return `"clients.${name}" in config.json has a problem`;
    if (brokenClients.includes(EVERY_CLIENT)) return 'the clients in config.json cannot be read';
    const isKnownOtherwise = client?.claims !== undefined || client?.local === true;
    if (isKnownOtherwise) return undefined;
    const isRevoked = client?.token !== undefined && ended.has(client.token.toLowerCase());
    if (token !== undefined && isExpired(token) && (client?.token === undefined || isRevoked))
      return 'its token has expired';
    return token === undefined && isRevoked ? 'its token is revoked' : undefined;
  };
  const names = new Set([
    ...stored.keys(),
    ...Object.keys(clients),
    ...brokenClients.filter((name) => name !== EVERY_CLIENT),
  ]);
  return new Map(
    [...names].flatMap((name) => {
      const reason = reasonFor(name);
      return reason === undefined ? [] : [[name, reason] as const];
    }),
  );
}
