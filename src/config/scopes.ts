/**
 * The table of scopes: whose an entry is, and what follows from that. Rules and logins are stored by owner. The only
 * place that decides what comes with a project or plugin; a test rejects such comparisons in other files.
 */

import { dirname } from 'node:path';
import type { ServerSpec } from './entry.ts';

/** Where the entry of a server comes from. */
export type Scope = 'code' | 'local' | 'project' | 'user' | 'plugin' | 'managed';

/** Scopes that commands can write. */
export type EditableScope = 'local' | 'project' | 'user';

interface ScopeRules {
  /**
   * Who supplies the entry, if not the user or the program's author: such an entry is foreign. It needs approval, has
   * no privileges, and has its own rules, logins, answers and pins.
   */
  readonly supplier?: 'project' | 'plugin';
  /** The folder is part of the server's identity: entries of one name in two folders are two servers. */
  readonly perFolder?: true;
  /** The entry is read from the user's own `config.json`. */
  readonly personal?: true;
  /** One entry of a file for every project: if it runs code of the project, each project is approved separately. */
  readonly everyProject?: true;
  /** The entry also applies to other users or other projects, so a user can switch it for one project. */
  readonly switchable?: true;
}

/** By precedence, the strongest first. */
const SCOPES: Readonly<Record<Scope, ScopeRules>> = {
  managed: { everyProject: true },
  code: {},
  local: { perFolder: true, personal: true },
  project: { supplier: 'project', perFolder: true, switchable: true },
  user: { personal: true, everyProject: true, switchable: true },
  plugin: { supplier: 'plugin', perFolder: true, switchable: true },
};

/** The strongest first; of several entries with one name the strongest is used. */
export const PRECEDENCE: readonly Scope[] = ['managed', 'code', 'local', 'project', 'user', 'plugin'];

export const EDITABLE_SCOPES: readonly EditableScope[] = ['local', 'project', 'user'];

interface Scoped {
  readonly scope: Scope;
}

/** True for entries that a project or plugin supplies; all others are the user's own, or given in code. */
export function isForeign({ scope }: Scoped): boolean {
  return SCOPES[scope].supplier !== undefined;
}

/** Returns who supplies a foreign entry; undefined for all others. */
export function supplierOf({ scope }: Scoped): 'project' | 'plugin' | undefined {
  return SCOPES[scope].supplier;
}

/** True if entries of the same name and scope in two folders are two servers. */
export function isPerFolder({ scope }: Scoped): boolean {
  return SCOPES[scope].perFolder === true;
}

/** True for entries of the user's own `config.json`. */
export function isPersonal<T extends Scoped>(spec: T): spec is T & { readonly scope: 'local' | 'user' } {
  return SCOPES[spec.scope].personal === true;
}

/** Returns who can change an entry, for the person who reads it: `you` for entries of their own `config.json`. */
export function ownerName({ scope }: Scoped): 'you' | Exclude<Scope, 'local' | 'user'> {
  return scope === 'local' || scope === 'user' ? 'you' : scope;
}

/** True for entries of files that apply in every project. */
export function isForEveryProject({ scope }: Scoped): boolean {
  return SCOPES[scope].everyProject === true;
}

/** True for servers that a user can switch on or off for one project. */
export function isSwitchable({ scope, builtIn }: Scoped & { readonly builtIn?: true }): boolean {
  return builtIn !== true && SCOPES[scope].switchable === true;
}

export function isEditable(scope: Scope): scope is EditableScope {
  return EDITABLE_SCOPES.some((each) => each === scope);
}

/** Returns the folder of the file that supplies the entry; empty for the user's own. */
export function entryOwner(spec: Pick<ServerSpec, 'scope' | 'file' | 'baseDir'>): string {
  if (!isForeign(spec)) return '';
  // A plugin's entries can be in several files of its folder.
  return supplierOf(spec) === 'plugin' || spec.file === undefined ? spec.baseDir : dirname(spec.file);
}
