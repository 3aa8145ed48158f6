/** Parses the non-interactive grants of an entry and reads their secrets from the environment or a file. */

import { readFile } from 'node:fs/promises';
import type { OAuthDetails } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';

/** The location of a secret; the entry itself never contains it. */
export type Source = { readonly envVar: string } | { readonly file: string };

interface Bound {
  /** The only issuer that may receive the secrets; default: the first one that they are used with. */
  readonly issuer?: string;
}

export interface ClientCredentialsGrant extends Bound {
  readonly type: 'client_credentials';
  readonly privateKey?: Source;
  readonly algorithm: string;
}

/** Workload identity: a JWT signed by a third party. */
export interface JwtBearerGrant extends Bound {
  readonly type: 'jwt_bearer';
  readonly assertion: Source;
}

/** Cross-app access: the company's identity provider asserts the user's identity to the server's issuer. */
export interface CrossAppGrant extends Bound {
  readonly type: 'cross_app';
  readonly idp: {
    readonly issuer?: string;
    readonly tokenUrl?: string;
    readonly clientId: string;
    readonly clientSecret?: Source;
    readonly idToken: Source;
  };
}

export type Grant = ClientCredentialsGrant | JwtBearerGrant | CrossAppGrant;

const DEFAULT_ALGORITHM = 'ES256';

/** Returns the grant; undefined if the entry has none. Throws CONFIG_INVALID for a grant that cannot be used. */
export function parseGrant(server: string, oauth: OAuthDetails): Grant | undefined {
  // An entry from a file may contain any value here.
  const given: unknown = oauth.grant;
  const value = typeof given === 'string' ? { type: given } : given;
  if (value === undefined) return undefined;
  const fail = (what: string): never => {
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The entry of "${server}" has an oauth.grant that cannot be used: ${what}`,
      {
        server,
        hint: 'Set "type" to client_credentials, jwt_bearer or cross_app, and name secrets with …EnvVar or …File.',
      },
    );
  };
  if (!isRecord(value)) return fail('it is not an object');
  const issuer = optionalText(value, 'issuer');
  const bound = issuer === undefined ? {} : { issuer };
  if (oauth.clientId === undefined && value['type'] !== 'authorization_code')
    fail('oauth.clientId is missing');
  switch (value['type']) {
    case 'authorization_code':
      return undefined;
    case 'client_credentials': {
      const privateKey = sourceOf(value, 'privateKey');
      return {
        type: 'client_credentials',
        algorithm: optionalText(value, 'algorithm') ?? DEFAULT_ALGORITHM,
        ...bound,
        ...(privateKey === undefined ? {} : { privateKey }),
      };
    }
    case 'jwt_bearer':
      return {
        type: 'jwt_bearer',
        assertion: sourceOf(value, 'assertion') ?? fail('assertionEnvVar or assertionFile is missing'),
        ...bound,
      };
    case 'cross_app': {
      const { idp } = value;
      if (!isRecord(idp)) return fail('idp is missing');
      const idpIssuer = optionalText(idp, 'issuer');
      const tokenUrl = optionalText(idp, 'tokenUrl');
      const clientSecret = sourceOf(idp, 'clientSecret');
      if (idpIssuer === undefined && tokenUrl === undefined) fail('idp.issuer or idp.tokenUrl is missing');
      return {
        type: 'cross_app',
        idp: {
          clientId: optionalText(idp, 'clientId') ?? fail('idp.clientId is missing'),
          idToken: sourceOf(idp, 'idToken') ?? fail('idp.idTokenEnvVar or idp.idTokenFile is missing'),
          ...defined({ issuer: idpIssuer, tokenUrl, clientSecret }),
        },
        ...bound,
      };
    }
    default:
      return fail('its type is not known');
  }
}

/** Urls of a grant that the user configured; they may have any address. */
export function trustedByGrant(grant: Grant | undefined): string[] {
  if (grant?.type !== 'cross_app') return [];
  return [grant.idp.issuer, grant.idp.tokenUrl].filter((url) => url !== undefined);
}

export async function readSource(server: string, source: Source, env: NodeJS.ProcessEnv): Promise<string> {
  const value =
    'envVar' in source ? env[source.envVar] : await readFile(source.file, 'utf8').catch(() => undefined);
  if (value !== undefined && value.trim() !== '') return value.trim();
  const where = 'envVar' in source ? `the variable ${source.envVar}` : `the file ${source.file}`;
  throw new PlugboardError(
    'CONFIG_INVALID',
    `The server "${server}" takes a secret from ${where}, where there is none`,
    {
      server,
      hint: `Put it into ${where}, then try again.`,
    },
  );
}

function sourceOf(value: Record<string, unknown>, name: string): Source | undefined {
  const envVar = optionalText(value, `${name}EnvVar`);
  if (envVar !== undefined) return { envVar };
  const file = optionalText(value, `${name}File`);
  return file === undefined ? undefined : { file };
}

function optionalText(value: Record<string, unknown>, key: string): string | undefined {
  const text = value[key];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
