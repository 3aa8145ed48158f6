/** Decides which requests use a proxy, by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. */

import ipaddr from 'ipaddr.js';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { isLoopbackHost } from './egress.ts';

/** A proxy and the variable that names it. */
export interface ProxyServer {
  readonly url: URL;
  /** Its address without user name and password, for messages. */
  readonly shown: string;
  /** The name of the variable. */
  readonly from: string;
  /** The value of `Proxy-Authorization`; undefined without a user name. */
  readonly authorization: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** By scheme of the target, in order of precedence; https falls back to HTTP_PROXY, like Node's own `fetch`. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'https:': ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY'],
  'http:': ['HTTP_PROXY', 'ALL_PROXY'],
};
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Returns the proxy for a request, or undefined for a direct one. Loopback addresses never go through a proxy, unless
 * `forced`.
 *
 * @param forced `true`: use the proxy for loopback addresses and those in NO_PROXY too; `false`: never use one.
 * @throws PlugboardError CONFIG_INVALID if the variable does not hold the address of an HTTP proxy.
 */
export function proxyFor(target: URL, env: Environment, forced?: boolean): ProxyServer | undefined {
  if (forced === false || isSwitchedOff(env)) return undefined;
  const found = firstSet(env, VARIABLES[target.protocol] ?? []);
  if (found === undefined || found.value === '') return undefined;
  if (forced !== true && isLoopbackHost(target.hostname)) return undefined;
  if (forced !== true && isExcluded(target, variable(env, 'NO_PROXY')?.value ?? '')) return undefined;
  return parseProxy(found.name, found.value);
}

/** Returns every proxy variable of the environment, valid or not, for display. */
export function proxyVariables(
  env: Environment,
): readonly { readonly name: string; readonly value: string }[] {
  if (isSwitchedOff(env)) return [];
  return ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => {
    const found = variable(env, name);
    return found === undefined || found.value === '' ? [] : [found];
  });
}

/** Node uses proxy variables only if this is 1; we always do, and 0 disables them. */
function isSwitchedOff(env: Environment): boolean {
  return env['NODE_USE_ENV_PROXY'] === '0' || env['NODE_USE_ENV_PROXY'] === 'false';
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** The lower-case name takes precedence, as in curl; an empty value means no proxy. */
function variable(env: Environment, name: string): Variable | undefined {
  for (const spelling of [name.toLowerCase(), name]) {
    const value = env[spelling];
    if (value !== undefined) return { name: spelling, value: value.trim() };
  }
  return undefined;
}

function firstSet(env: Environment, names: readonly string[]): Variable | undefined {
  for (const name of names) {
    const found = variable(env, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function parseProxy(name: string, value: string): ProxyServer {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    throw invalid(`${name} does not hold the address of a proxy`, name);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`${name} names a proxy of the kind ${url.protocol}//, which is not supported`, name);
  }
  const { username, password } = url;
  const hasUser = username !== '' || password !== '';
  return {
    url,
    shown: url.origin,
    from: name,
    authorization: hasUser
      ? `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
      : undefined,
  };
}

/** Returns the texts of a proxy that must not be logged. */
export function proxySecrets({ url, authorization }: ProxyServer): readonly string[] {
  if (url.password === '') return [];
  return [
    url.password,
    decoded(url.password),
    ...(authorization === undefined ? [] : [authorization.slice(6)]),
  ];
}

function decoded(text: string): string {
  // Invalid percent-encoding is used as it is.
  return attempt(() => decodeURIComponent(text), text);
}

function invalid(message: string, name: string): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `${message}`, {
    hint: `Set ${name} to an address such as http://proxy.example:3128, or unset it.`,
    detail: { permanent: true, notSent: true },
  });
}

/** Matches hosts, domains with subdomains, addresses, ranges such as 10.0.0.0/8, with or without a port; or `*`. */
function isExcluded(target: URL, list: string): boolean {
  const host = target.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const port = target.port || DEFAULT_PORTS[target.protocol];
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string | undefined): boolean {
  if (entry === '*') return true;
  // An IPv6 address contains colons itself, unless it is in brackets.
  const split = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry);
  if (split?.[2] !== undefined && split[2] !== port) return false;
  const name = (split?.[1] ?? entry)
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  if (name.includes('/')) return isInRange(host, name);
  if (ipaddr.isValid(name) && ipaddr.isValid(host)) return sameAddress(host, name);
  return host === name || host.endsWith(`.${name}`);
}

function sameAddress(a: string, b: string): boolean {
  return ipaddr.process(a).toNormalizedString() === ipaddr.process(b).toNormalizedString();
}

function isInRange(host: string, range: string): boolean {
  if (!ipaddr.isValid(host) || !ipaddr.isValidCIDR(range)) return false;
  const address = ipaddr.process(host);
  const [base, bits] = ipaddr.parseCIDR(range);
  return address.kind() === base.kind() && address.match(base, bits);
}
