/** Loads extra certificate authorities: NODE_EXTRA_CA_CERTS and SSL_CERT_FILE, from the host's environment. */

import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

const VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const;
const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g;

/**
 * Returns a context that trusts the files of `env` in addition to Node's own authorities; undefined if Node already
 * trusts them. Node itself reads NODE_EXTRA_CA_CERTS only when a process starts, and the daemon serves sessions with
 * other environments.
 */
export function secureContextFor(
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): tls.SecureContext | undefined {
  const own = process.env['NODE_EXTRA_CA_CERTS'];
  const wanted = VARIABLES.flatMap((name) => {
    const file = env[name];
    return file === undefined || file === '' || file === own ? [] : [{ name, file }];
  });
  const extra = wanted.flatMap(({ name, file }) => certificatesIn(name, file, warn));
  if (extra.length === 0) return undefined;
  return tls.createSecureContext({ ca: [...ownAuthorities(own), ...extra] });
}

/** Reads certificates from a file; an error is a warning, so that servers that do not need the file still work. */
function certificatesIn(name: string, file: string, warn: (message: string) => void): readonly string[] {
  try {
    const found = readFileSync(file, 'latin1').match(CERTIFICATE) ?? [];
    if (found.length === 0) warn(`${name} names ${file}, which holds no certificate; it is ignored`);
    return found;
  } catch {
    warn(`${name} names ${file}, which cannot be read; it is ignored`);
    return [];
  }
}

/** Returns everything that this process already trusts, because `ca` replaces the defaults. */
function ownAuthorities(own: string | undefined): readonly string[] {
  // Since Node 22.15.
  if ('getCACertificates' in tls && typeof tls.getCACertificates === 'function') {
    return (tls.getCACertificates as (kind: 'default') => string[])('default');
  }
  return [
    ...tls.rootCertificates,
    ...(own === undefined || own === '' ? [] : certificatesIn('NODE_EXTRA_CA_CERTS', own, () => {})),
  ];
}
