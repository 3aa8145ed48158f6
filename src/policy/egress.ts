/** Decides which addresses provided by a server may be contacted, before a connection is made. Pure. */

import ipaddr from 'ipaddr.js';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';

/** Class of an address for egress rules. `forbidden` is link-local, multicast, tunnels and similar ranges. */
export type AddressClass = 'public' | 'loopback' | 'private' | 'forbidden';

/** Cloud metadata services in ranges that are otherwise private. */
const METADATA_ADDRESSES = new Set(['fd00:ec2::254', '100.100.100.200']);

export interface EgressRules {
  /** Throws EGRESS_REFUSED for a url that may not be contacted, regardless of its address. */
  check(url: string | URL): URL;
  /** Throws EGRESS_REFUSED if a checked url resolved to an address that may not be contacted. */
  checkAddress(url: URL, address: string): void;
}

export interface EgressOptions {
  /** The server's configured url; the user has chosen it, so its origin is allowed. */
  readonly server: string | URL;
  /** More urls from the user's own configuration (endpoints given by hand, an identity provider). */
  readonly trusted?: readonly (string | URL)[] | undefined;
  /** The first address class of each origin that the user named; shared by all rules of a server. */
  readonly kept?: Map<string, AddressClass> | undefined;
}

export function classify(address: string): AddressClass {
  if (!ipaddr.isValid(address)) return 'forbidden';
  // `process` converts IPv4-mapped IPv6 addresses to the IPv4 address that would be contacted.
  const parsed = ipaddr.process(address);
  if (METADATA_ADDRESSES.has(parsed.toString())) return 'forbidden';
  switch (parsed.range()) {
    case 'unicast':
      return 'public';
    case 'loopback':
      return 'loopback';
    case 'private':
    case 'uniqueLocal':
    case 'carrierGradeNat':
      return 'private';
    default:
      return 'forbidden';
  }
}

export function egressRules(options: EgressOptions): EgressRules {
  const server = new URL(options.server);
  const own = [server, ...(options.trusted ?? []).map((url) => new URL(url))];
  // Scheme, name and port: another port of the same machine is another program.
  const ownOrigins = new Set(own.map((url) => url.origin));
  const kept = options.kept ?? new Map<string, AddressClass>();
  // The server's name is not evidence of its location: its owner could make it resolve to loopback to be let through.
  // Only an address that the user typed opens the range it belongs to.
  const serverClass = literalClass(server.hostname) ?? 'public';

  const mayReach = (where: AddressClass): boolean =>
    where === 'public' || (where !== 'forbidden' && where === serverClass);

  return {
    check(value) {
      const url = parse(value);
      const where = literalClass(url.hostname);
      if (url.username !== '' || url.password !== '')
        throw refused(url, 'it carries a user name or password');
      if (ownOrigins.has(url.origin)) return url;
      const plain = url.protocol === 'http:' && where === 'loopback' && serverClass === 'loopback';
      if (url.protocol !== 'https:' && !plain) throw refused(url, 'it is not an https address');
      if (where !== undefined && !mayReach(where)) {
        throw refused(url, `it is in a ${shown(where)} address range`);
      }
      return url;
    },
    checkAddress(url, address) {
      const where = classify(address);
      if (ownOrigins.has(url.origin)) {
        // The user chose the name. Its first address class must not change.
        const first = kept.get(url.origin) ?? where;
        kept.set(url.origin, first);
        if (where === first || where === 'public') return;
        throw refused(url, `its name now resolves to a ${shown(where)} address, and did not before`);
      }
      if (mayReach(where)) return;
      throw refused(url, `its name resolves to a ${shown(where)} address`);
    },
  };
}

function shown(where: AddressClass): string {
  return where === 'forbidden' ? 'reserved' : where;
}

/** True for `localhost`, names under it and loopback addresses. */
export function isLoopbackHost(hostname: string): boolean {
  return literalClass(hostname) === 'loopback';
}

/** Returns the class of a host that is an address or a localhost name; undefined for other names. */
function literalClass(hostname: string): AddressClass | undefined {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  return ipaddr.isValid(host) ? classify(host) : undefined;
}

function parse(value: string | URL): URL {
  const url = attempt(() => new URL(value), undefined);
  if (url !== undefined) return url;
  throw new PlugboardError('EGRESS_REFUSED', 'The server named an address that is not a url');
}

function refused(url: URL, why: string): PlugboardError {
  return new PlugboardError(
    'EGRESS_REFUSED',
    `The server sent us to ${url.origin === 'null' ? url.protocol : url.origin}, which was not contacted: ${why}`,
    {
      hint: "If you trust that address, name it yourself: oauth.authorizationUrl and oauth.tokenUrl in the server's entry.",
      detail: { permanent: true },
    },
  );
}
