/** Determines which permission rules of `config.json` apply to a server. */

import { own, valueAt } from '../lib/json.ts';
import type { Permissions, ServerSpec, Settings } from './entry.ts';
import { projectKey } from './project-key.ts';
import { entryOwner, isForeign, supplierOf } from './scopes.ts';

export type Identity = Pick<ServerSpec, 'name' | 'scope' | 'file' | 'baseDir'>;

/**
 * Returns the rules for calls of one server. `allow` and `readOnly` are for the user's own servers; a project's or plugin's
 * server has its own list, so that it cannot obtain a rule by using another server's name. `ask` and `deny` apply to
 * all.
 */
export function permissionsFor(spec: Identity, settings: Settings): Permissions {
  const { permissions = {} } = settings;
  if (!isForeign(spec)) return permissions;
  const { allow: _allow, readOnly: _readOnly, ...rest } = permissions;
  const given = listFor(spec, settings);
  return given === undefined ? rest : { ...rest, allow: given };
}

function listFor(spec: Identity, { projects, plugins }: Settings): readonly string[] | undefined {
  const found =
    supplierOf(spec) === 'plugin' ? own(plugins, pluginOf(spec)) : own(projects, entryOwner(spec));
  return found?.permissions?.allow;
}

/** Returns the plugin's name, before the colon in the name of a server. */
function pluginOf({ name }: Identity): string {
  return name.slice(0, Math.max(0, name.indexOf(':')));
}

/**
 * Returns the path of a server's list in `config.json`; `root`: the current file, which may spell the folder
 * differently.
 */
export function allowPath(spec: Identity, root: unknown): string[] {
  const rest = ['permissions', 'allow'];
  if (!isForeign(spec)) return rest;
  if (supplierOf(spec) === 'plugin') return ['plugins', pluginOf(spec), ...rest];
  const folder = entryOwner(spec);
  return ['projects', projectKey(valueAt(root, ['projects']), [folder]) ?? folder, ...rest];
}

/**
 * Formats the path of the list for hints.
 *
 * @example
 * allowPlace(spec); // 'projects["/home/ada/app"].permissions.allow'
 */
export function allowPlace(spec: Identity): string {
  const [first = '', ...rest] = allowPath(spec, undefined);
  if (rest.length === 1) return `${first}.${rest.join('.')}`;
  const [key = '', ...last] = rest;
  return `${first}[${JSON.stringify(key)}].${last.join('.')}`;
}
