/** Decides which tools a client may use: by the scopes of its token, and by a function of the author. */

import type { IncomingHttpHeaders } from 'node:http';
import type { ClientInfo } from '../endpoint/client-era.ts';
import type { Caller } from '../endpoint/guard.ts';
import type { Client } from './handler-context.ts';

/** The sender of a request. */
export interface Access {
  readonly client: Client;
  /** The headers of its HTTP request, in lower case; empty on other transports. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Rules of one tool. A client that they do not admit gets the same answers as if the tool did not exist: it is absent
 * from lists, and a call of it is a call of an unknown tool.
 */
export interface AccessRules {
  /** The token must have all of these scopes. Not checked where no verifier identifies clients. */
  readonly scopes?: readonly string[] | undefined;
  /** Returns whether the client may use the tool; an exception refuses it. */
  readonly canAccess?: ((access: Access) => boolean | Promise<boolean>) | undefined;
}

export function hasRules({ scopes, canAccess }: AccessRules): boolean {
  return canAccess !== undefined || (scopes !== undefined && scopes.length > 0);
}

export async function isAdmitted({ scopes = [], canAccess }: AccessRules, access: Access): Promise<boolean> {
  const { scopes: granted } = access.client;
  if (granted !== undefined && !scopes.every((scope) => granted.includes(scope))) return false;
  try {
    return canAccess === undefined || (await canAccess(access)) === true;
  } catch {
    return false;
  }
}

/** Describes the sender of a request to the author's code. */
export function clientOf(info: ClientInfo, principal: string, caller: Caller | undefined): Client {
  const { era, version, capabilities } = info;
  const { claims, scopes } = caller ?? {};
  return {
    era,
    protocolVersion: version,
    capabilities,
    principal,
    ...(claims === undefined ? {} : { claims }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

/** Without the parts of the address that HTTP/2 has among them. */
export function plainHeaders(headers: IncomingHttpHeaders = {}): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':') ? [] : [[name, [value].flat().join(', ')]],
  );
  return Object.fromEntries(entries);
}
