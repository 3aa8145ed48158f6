/** Reads the managed settings of a machine: the administrator's own servers, and rules for all others (POL-1). */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { type Document, locateFaults, readDocument } from './document.ts';
import type { Problem, ServerSpec } from './entry.ts';
import { parseServers } from './parse.ts';

/** The location of the files. Neither a user nor a project can change it. */
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
  /** The server must also have this name. */
  readonly name?: string;
  readonly grants?: ManagedGrants;
}

/** Grants for further keys that affect what runs: an allowed entry may have them only as far as granted. */
export interface ManagedGrants {
  /** Names of variables, with `*` as a wildcard: only these may be set. */
  readonly env?: readonly string[];
  readonly inheritEnv?: boolean;
  /** True: any folder. */
  readonly cwd?: true | readonly string[];
  /** True: any command. */
  readonly headersHelper?: true | readonly string[];
  /** Patterns of URLs that `oauth` may use as endpoints. */
  readonly oauth?: true | readonly string[];
}

/** One rule and its source, for the error message. */
export interface ManagedRule {
  readonly matcher: ManagedMatcher;
  /** For example `deniedServers[0] {"name":"x"}`. */
  readonly shown: string;
}

export interface Managed {
  /** Why nothing may run: an invalid file blocks everything (fail closed). */
  readonly closed?: string;
  /** Set if the exclusive file exists: then only its servers may run. */
  readonly exclusive?: string;
  readonly servers: readonly ServerSpec[];
  readonly policyFile: string;
  /** Undefined: all are allowed. Empty: none. */
  readonly allowed?: readonly ManagedRule[];
  readonly denied: readonly ManagedRule[];
  /** True: only locked packages and the administrator's own programs may run. */
  readonly lockedOnly?: true;
  readonly problems: readonly Problem[];
  /** The files that were looked for, present or not. */
  readonly files: readonly string[];
}

export function managedFolder(platform: NodeJS.Platform = process.platform): string {
  return FOLDERS[platform] ?? FOLDER_ELSEWHERE;
}

/**
 * Reads both managed files. Never rejects: an unreadable or invalid file blocks everything.
 *
 * @param baseDir default working folder of the servers that the exclusive file lists
 */
export async function readManaged(baseDir: string, folder: string = managedFolder()): Promise<Managed> {
  const serversFile = join(folder, 'managed-mcp.json');
  const policyFile = join(folder, 'policy.json');
  const blocked = folderFault(folder);
  const [servers, policy] = await Promise.all([readExclusive(serversFile, baseDir), readPolicy(policyFile)]);
  const closed = blocked ?? servers.closed ?? policy.closed;
  return {
    ...(closed === undefined ? {} : { closed }),
    ...(servers.there ? { exclusive: serversFile } : {}),
    servers: servers.servers,
    policyFile,
    ...(policy.allowed === undefined ? {} : { allowed: policy.allowed }),
    denied: policy.denied,
    ...(policy.lockedOnly === true ? { lockedOnly: true } : {}),
    problems: [...servers.problems, ...policy.problems],
    files: [serversFile, policyFile],
  };
}

function folderFault(folder: string): string | undefined {
  // Synchronous: commands that only read the configuration do without Node's promises of files.
  const info = attempt(() => lstatSync(folder), undefined);
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
  const fault = faultOf(document);
  if (fault === 'absent') return { there: false, servers: [], problems: [] };
  if (fault !== undefined)
    return { there: true, closed: fault, servers: [], problems: withClosing(document, fault) };
  const value = document.value as JsonObject; // checked by `faultOf`
  const { servers, faults } = parseServers(value['mcpServers'], { scope: 'managed', file, baseDir }, [
    'mcpServers',
  ]);
  return {
    there: true,
    servers,
    problems: [...document.problems, ...(await locateFaults(document, faults))],
  };
}

const POLICY_KEYS: ReadonlySet<string> = new Set([
  'allowedServers',
  'deniedServers',
  'lockedOnly',
  '$schema',
]);

interface Policy {
  readonly closed?: string;
  readonly allowed?: readonly ManagedRule[];
  readonly denied: readonly ManagedRule[];
  readonly lockedOnly?: boolean;
  readonly problems: readonly Problem[];
}

async function readPolicy(file: string): Promise<Policy> {
  const document = await readDocument(file);
  const fault = faultOf(document);
  if (fault === 'absent') return { denied: [], problems: [] };
  const closed = (why: string): Policy => ({
    closed: why,
    denied: [],
    problems: withClosing(document, why),
  });
  // With a duplicate key, a rule that the administrator wrote would be lost.
  const twice = document.problems[0];
  if (fault !== undefined) return closed(fault);
  if (twice !== undefined) return closed(`${file} is broken, so nothing may run: ${twice.message}`);
  const value = document.value as JsonObject; // checked by `faultOf`
  const unknown = Object.keys(value).find((key) => !POLICY_KEYS.has(key) && !key.startsWith('x-'));
  // A misspelt deny list must not be ignored.
  if (unknown !== undefined) return closed(broken(file, `${JSON.stringify(unknown)} is not known`));
  const allowed = rulesOf('allowedServers', value['allowedServers']);
  const denied = rulesOf('deniedServers', value['deniedServers'] ?? []);
  if (typeof allowed === 'string') return closed(broken(file, allowed));
  if (typeof denied === 'string') return closed(broken(file, denied));
  const { lockedOnly = false } = value;
  if (typeof lockedOnly !== 'boolean') return closed(broken(file, '"lockedOnly" must be true or false'));
  return { ...(allowed === undefined ? {} : { allowed }), denied: denied ?? [], lockedOnly, problems: [] };
}

/** Returns `absent` if the file does not exist, or a sentence if it blocks everything. */
function faultOf({ file, value, problems }: Document): 'absent' | string | undefined {
  if (value === undefined) {
    const [problem] = problems;
    if (problem !== undefined) return broken(file, problem.message);
    // Empty, or a dangling link: the administrator intended a policy.
    const isThere = attempt(() => lstatSync(file) !== undefined, false);
    return isThere ? broken(file, 'it is empty') : 'absent';
  }
  return isRecord(value) ? undefined : broken(file, 'it does not hold an object');
}

function broken(file: string, why: string): string {
  return `${file} is broken, so nothing may run: ${why.replace(/\.$/, '')}`;
}

function withClosing({ file, problems }: Document, message: string): readonly Problem[] {
  const [first] = problems;
  const hint = 'Only the administrator of this machine can fix it.';
  return [first === undefined ? { file, message, hint } : { ...first, hint }];
}

/** Returns the rules of a list; undefined if it is absent; a sentence if it is invalid. */
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
    // A denial applies to the whole server: with conditions, a part of it could run.
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
  // A name alone allows any program under it, so there is nothing to grant.
  const isName = name !== undefined && Object.keys(value).length === 1;
  return isName ? { kind: 'name', name } : undefined;
}

/** Returns undefined for an unknown key or invalid value: a misspelt limit must not be ignored. */
function grantsOf(value: JsonObject): ManagedGrants | undefined {
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
