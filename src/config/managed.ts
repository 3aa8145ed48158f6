/** What whoever manages the machine decided: servers of their own, and rules about everybody else's (POL-1). */

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../lib/json-rpc.ts';
import { type Document, locateFaults, readDocument } from './document.ts';
import type { Problem, ServerSpec } from './entry.ts';
import { parseServers } from './parse.ts';

/** Where the files are. Nothing that a person or a project can set moves them. */
const FOLDERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: '/Library/Application Support/Plugboard',
  win32: 'C:\\ProgramData\\Plugboard',
};
const FOLDER_ELSEWHERE = '/etc/plugboard';

export type ManagedMatcher =
  | { readonly kind: 'name'; readonly name: string }
  /** The command and all of its arguments. */
  | ({ readonly kind: 'command'; readonly words: readonly string[] } & Conditions)
  | ({ readonly kind: 'url'; readonly pattern: string } & Conditions);

interface Conditions {
  /** The server has to have this name too. */
  readonly name?: string;
  readonly grants?: ManagedGrants;
}

/** Further keys of an entry that decide what runs: an allowed entry has them only as far as these say so. */
export interface ManagedGrants {
  /** Names of variables, `*` for any part of one: exactly these may be set. */
  readonly env?: readonly string[];
  readonly inheritEnv?: boolean;
  /** True: any folder. */
  readonly cwd?: true | readonly string[];
  /** True: any command. */
  readonly headersHelper?: true | readonly string[];
  /** Patterns of urls that `oauth` may name as endpoints. */
  readonly oauth?: true | readonly string[];
}

/** One rule and where it stands, for the person who runs into it. */
export interface ManagedRule {
  readonly matcher: ManagedMatcher;
  /** `deniedServers[0] {"name":"x"}` */
  readonly shown: string;
}

export interface Managed {
  /** Why nothing may run: a file that is there and cannot be understood closes, it does not open. */
  readonly closed?: string;
  /** Set when the exclusive file is there: then only its servers may run. */
  readonly exclusive?: string;
  readonly servers: readonly ServerSpec[];
  readonly policyFile: string;
  /** Undefined: all are allowed. Empty: none. */
  readonly allowed?: readonly ManagedRule[];
  readonly denied: readonly ManagedRule[];
  readonly problems: readonly Problem[];
  /** The files that were looked for, present or not. */
  readonly files: readonly string[];
}

export function managedFolder(platform: NodeJS.Platform = process.platform): string {
  return FOLDERS[platform] ?? FOLDER_ELSEWHERE;
}

/**
 * Reads both managed files. Never rejects: what cannot be read or understood closes everything.
 *
 * @param baseDir default working folder of the servers that the exclusive file lists
 */
export async function readManaged(baseDir: string, folder: string = managedFolder()): Promise<Managed> {
  const serversFile = join(folder, 'managed-mcp.json');
  const policyFile = join(folder, 'policy.json');
  const [blocked, servers, policy] = await Promise.all([
    folderFault(folder),
    readExclusive(serversFile, baseDir),
    readPolicy(policyFile),
  ]);
  const closed = blocked ?? servers.closed ?? policy.closed;
  return {
    ...(closed === undefined ? {} : { closed }),
    ...(servers.there ? { exclusive: serversFile } : {}),
    servers: servers.servers,
    policyFile,
    ...(policy.allowed === undefined ? {} : { allowed: policy.allowed }),
    denied: policy.denied,
    problems: [...servers.problems, ...policy.problems],
    files: [serversFile, policyFile],
  };
}

async function folderFault(folder: string): Promise<string | undefined> {
  const info = await lstat(folder).catch(() => undefined);
  if (info === undefined || info.isDirectory() || info.isSymbolicLink()) return undefined;
  return `${folder} is not a folder, so nothing may run`;
}

interface Exclusive {
  readonly there: boolean;
  readonly closed?: string;
  readonly servers: readonly ServerSpec[];
  readonly problems: readonly Problem[];
}

async function readExclusive(file: string, baseDir: string): Promise<Exclusive> {
  const document = await readDocument(file);
  const fault = await faultOf(document);
  if (fault === 'absent') return { there: false, servers: [], problems: [] };
  if (fault !== undefined)
    return { there: true, closed: fault, servers: [], problems: withClosing(document, fault) };
  const value = document.value as Readonly<Record<string, unknown>>; // `faultOf` has looked
  const { servers, faults } = parseServers(value['mcpServers'], { scope: 'managed', file, baseDir }, [
    'mcpServers',
  ]);
  return {
    there: true,
    servers,
    problems: [...document.problems, ...(await locateFaults(document, faults))],
  };
}

interface Policy {
  readonly closed?: string;
  readonly allowed?: readonly ManagedRule[];
  readonly denied: readonly ManagedRule[];
  readonly problems: readonly Problem[];
}

async function readPolicy(file: string): Promise<Policy> {
  const document = await readDocument(file);
  const fault = await faultOf(document);
  if (fault === 'absent') return { denied: [], problems: [] };
  const closed = (why: string): Policy => ({
    closed: why,
    denied: [],
    problems: withClosing(document, why),
  });
  // A key that stands twice is a rule that somebody wrote and that would be lost.
  const twice = document.problems[0];
  if (fault !== undefined) return closed(fault);
  if (twice !== undefined) return closed(`${file} is broken, so nothing may run: ${twice.message}`);
  const value = document.value as Readonly<Record<string, unknown>>; // `faultOf` has looked
  const unknown = Object.keys(value).find(
    (key) =>
      key !== 'allowedServers' && key !== 'deniedServers' && key !== '$schema' && !key.startsWith('x-'),
  );
  // A misspelt list of denials must not pass for none.
  if (unknown !== undefined) return closed(broken(file, `${JSON.stringify(unknown)} is not known`));
  const allowed = rulesOf('allowedServers', value['allowedServers']);
  const denied = rulesOf('deniedServers', value['deniedServers'] ?? []);
  if (typeof allowed === 'string') return closed(broken(file, allowed));
  if (typeof denied === 'string') return closed(broken(file, denied));
  return { ...(allowed === undefined ? {} : { allowed }), denied: denied ?? [], problems: [] };
}

/** `absent`: no such file. A sentence: it is there and closes everything. */
async function faultOf({ file, value, problems }: Document): Promise<'absent' | string | undefined> {
  if (value === undefined) {
    const [problem] = problems;
    if (problem !== undefined) return broken(file, problem.message);
    // Empty, or a link that leads nowhere: somebody meant to say something.
    const there = await lstat(file).then(
      () => true,
      () => false,
    );
    return there ? broken(file, 'it is empty') : 'absent';
  }
  return isRecord(value) ? undefined : broken(file, 'it does not hold an object');
}

function broken(file: string, why: string): string {
  return `${file} is broken, so nothing may run: ${why.replace(/\.$/, '')}`;
}

function withClosing({ file, problems }: Document, message: string): readonly Problem[] {
  const [first] = problems;
  const hint = 'Only the administrator of this machine can fix it.';
  return [first === undefined ? { file, message: `${message}.`, hint } : { ...first, hint }];
}

/** The rules of a list; undefined when it is not there; a sentence when it is not a list of rules. */
function rulesOf(
  list: 'allowedServers' | 'deniedServers',
  value: unknown,
): readonly ManagedRule[] | string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return `"${list}" is not a list`;
  const rules: ManagedRule[] = [];
  for (const [at, written] of value.entries()) {
    const matcher = matcherOf(written);
    if (matcher === undefined) {
      return `${list}[${at}] must be one of { "name" }, { "command": [...] } and { "url" }`;
    }
    // A denial is of the whole server: one with conditions would let a part of it run.
    if (list === 'deniedServers' && 'grants' in matcher) {
      return `${list}[${at}] must be one of { "name" }, { "command": [...] } and { "url" }, without further keys`;
    }
    rules.push({ matcher, shown: `${list}[${at}] ${JSON.stringify(written)}` });
  }
  return rules;
}

function matcherOf(value: unknown): ManagedMatcher | undefined {
  if (!isRecord(value)) return undefined;
  const { name, command, url, ...rest } = value;
  if (name !== undefined && (typeof name !== 'string' || name === '')) return undefined;
  const grants = grantsOf(rest);
  if (grants === undefined || (command !== undefined && url !== undefined)) return undefined;
  const conditions = {
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(grants).length === 0 ? {} : { grants }),
  };
  if (typeof url === 'string' && url !== '') return { kind: 'url', pattern: url, ...conditions };
  if (isTexts(command) && command.length > 0) return { kind: 'command', words: command, ...conditions };
  // A name alone allows whatever runs under it, so there is nothing to add.
  const isName = name !== undefined && Object.keys(value).length === 1;
  return isName ? { kind: 'name', name } : undefined;
}

/** Undefined for a key or value that is not known: a misspelt limit must not pass for none. */
function grantsOf(value: Readonly<Record<string, unknown>>): ManagedGrants | undefined {
  const isValid = Object.entries(value).every(([key, grant]) => {
    switch (key) {
      case 'env':
        return isTexts(grant);
      case 'inheritEnv':
        return typeof grant === 'boolean';
      case 'cwd':
      case 'headersHelper':
      case 'oauth':
        return grant === true || isTexts(grant);
      default:
        return false;
    }
  });
  return isValid ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
