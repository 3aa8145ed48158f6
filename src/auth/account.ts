/** Whose login or client secret something is: owner, url, and the issuer that an entry names itself. */

import { createHash } from 'node:crypto';
import type { OAuthDetails, RemoteEntry, ServerSpec } from '../config/entry.ts';
import { entryOwner } from '../config/owner.ts';
import { canonicalUrl, urlKey } from './stored-login.ts';

export interface Account {
  /** Folder of the project or plugin whose entry it is; empty for the person's own. */
  readonly owner: string;
  /** The endpoints that the entry sets, and for a foreign entry its client; undefined where discovery finds them. */
  readonly issuer?: string;
  /** The token endpoint among them. */
  readonly tokenUrl?: string;
}

/** The person's own entries without endpoints of their own. */
export const OWN_ACCOUNT: Account = { owner: '' };

/** `entry`: after expansion. */
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
 * The name under which a login is kept. For the person's own it is the url alone, as in all earlier versions: the
 * login itself records its issuer.
 */
export function loginKeyOf({ owner, issuer }: Account, url: string): string {
  return owner === '' ? urlKey(url) : digest([owner, canonicalUrl(url), issuer ?? '']);
}

/** The name under which a client's secret is kept: it has no record of its issuer, so the name has. */
export function clientKeyOf({ owner, issuer }: Account, url: string): string {
  return issuer === undefined ? loginKeyOf({ owner }, url) : digest([owner, canonicalUrl(url), issuer]);
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
