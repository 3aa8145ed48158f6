/** Checks a server before it runs, by its name, command and address alone. */

import { isRemote, type ServerSpec } from '../config/entry.ts';
import { clean } from './clean.ts';
import { lookAlikes } from './scan-names.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Latin letters mixed with alphabets that have similar letters. */
const MIXED_ALPHABETS =
  /(?=.*\p{Script=Latin})(?=.*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}])/u;
/** A command that downloads and runs a script in one step. */
const FETCHED_AND_RUN = /\b(?:curl|wget|iwr)\b[^|]{0,500}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/;

/**
 * Returns warnings to read before using the server; none of them blocks it.
 *
 * @example
 * scanEntry(spec, config.servers); // ['the name looks like that of "github": make sure which one you mean.']
 */
export function scanEntry(spec: ServerSpec, servers: readonly ServerSpec[]): string[] {
  const names = lookAlikes(spec.name, servers).map(
    (other) => `the name looks like that of ${JSON.stringify(other)}: make sure which one you mean.`,
  );
  const mixed = MIXED_ALPHABETS.test(spec.name)
    ? ['the name is written with letters of several alphabets, some of which look like others.']
    : [];
  const text = JSON.stringify(spec.raw);
  const hidden = clean(text) === text ? [] : ['its entry has invisible characters.'];
  return [
    ...names,
    ...mixed,
    ...hidden,
    ...(isRemote(spec.entry) ? ofAddress(spec.entry.url, servers) : ofCommand(text)),
  ];
}

function ofCommand(text: string): string[] {
  return FETCHED_AND_RUN.test(text)
    ? ['its command fetches a program and runs it, whatever that is at the time.']
    : [];
}

function ofAddress(url: string, servers: readonly ServerSpec[]): string[] {
  if (!URL.canParse(url)) return []; // it contains a variable
  const { hostname, protocol } = new URL(url);
  const hosts = servers.flatMap(({ entry }) =>
    isRemote(entry) && URL.canParse(entry.url) ? [{ name: new URL(entry.url).hostname }] : [],
  );
  const others = [...new Set(lookAlikes(hostname, hosts))].filter((other) => !areRelated(hostname, other));
  return [
    ...(/(?:^|\.)xn--/.test(hostname)
      ? [`${hostname} is written with letters of other alphabets, which can look like another address.`]
      : []),
    ...others.map((other) => `its address looks like ${other}: make sure which one you mean.`),
    ...(protocol === 'http:' && !LOOPBACK.test(hostname)
      ? ['its address is not encrypted: others on the way can read and change what is said.']
      : []),
  ];
}

/** True if one host is a subdomain of the other, so both have the same owner. */
function areRelated(one: string, other: string): boolean {
  return one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}
