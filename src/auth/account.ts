/** Identifies the account that a login or client secret belongs to: owner, url and configured issuer. */

import { createHash } from 'node:crypto';
import type { OAuthDetails, RemoteEntry, ServerSpec } from '../config/entry.ts';
import { entryOwner } from '../config/scopes.ts';
import { canonicalUrl, urlKey } from './stored-login.ts';

export interface Account {
  /** Folder of the project or plugin that defines the entry; empty for the user's own entries. */
  readonly owner: string;
  /** The endpoints set in the entry (for a foreign entry, also its client); undefined if they are discovered. */
  readonly issuer?: string;
  /** The token endpoint set in the entry. */
  readonly tokenUrl?: string;
}

/** The account of the user's own entries that do not set endpoints. */
export const OWN_ACCOUNT: Account = { owner: '' };

/** Returns the account of an entry; `entry` must already be expanded. */
export function accountOf(
  spec: Pick<ServerSpec, 'scope' | 'file' | 'baseDir'>,
  { oauth }: Pick<RemoteEntry, 'oauth'>,
): Account {
  const owner = entryOwner(spec);
  const details: OAuthDetails = typeof oauth === 'object' ? oauth : {};
  const { authorizationUrl = '', tokenUrl = '', clientId = '' } = details;
  const named = [authorizationUrl, tokenUrl, owner === '' ? '' : clientId];
  return {
    owner,
    ...(named.every((part) => part === '') ? {} : { issuer: JSON.stringify(named) }),
    ...(tokenUrl === '' ? {} : { tokenUrl }),
  };
}

/**
 * Returns the storage key of a login. For the user's own logins it is the url alone, as in all earlier versions: the
 * login itself records its issuer.
 */
export function loginKeyOf({ owner, issuer }: Account, url: string): string {
  return owner === '' ? urlKey(url) : digest([owner, canonicalUrl(url), issuer ?? '']);
}

/** Returns the storage key of a client secret. It includes the issuer, because the secret does not record it. */
export function clientKeyOf({ owner, issuer }: Account, url: string): string {
  return issuer === undefined ? loginKeyOf({ owner }, url) : digest([owner, canonicalUrl(url), issuer]);
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
