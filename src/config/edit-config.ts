/**
 * Edits configuration files (entries, switches, allow rules): one key at a time, under a file lock of the operating
 * system, with an atomic rename.
 */

import { dirname, join } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, type JsonObject, valueAt } from '../lib/json.ts';
import { type UpdateOptions, updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { parseDocument, readDocument } from './document.ts';
import type { Problem, ServerSpec } from './entry.ts';
import type { JsonPath } from './fault.ts';
import { type Home, projectOf } from './home.ts';
import { PROJECT_FILE } from './load.ts';
import { checkServerName } from './parse.ts';
import { projectKey } from './project-key.ts';
import { allowPath, type Identity } from './rules.ts';
import { type EditableScope, isEditable } from './scopes.ts';

/** The object of servers to edit: its file and its path. */
export interface EditTarget {
  readonly scope: EditableScope;
  readonly file: string;
  readonly path: readonly string[];
}

interface EditOptions {
  /** Provides the lock folder; files below this home folder are private. */
  readonly home: Home;
  /** See `ReplaceOptions`: a hook directly before the rename. */
  readonly beforeRename?: UpdateOptions['beforeRename'];
  readonly signal?: AbortSignal | undefined;
}

/** Returns the file and path of a scope's servers. */
export function editTarget(scope: EditableScope, where: { home: Home; projectRoot: string }): EditTarget {
  switch (scope) {
    case 'local':
      return { scope, file: where.home.config, path: ['projects', where.projectRoot, 'mcpServers'] };
    case 'project':
      return { scope, file: join(where.projectRoot, PROJECT_FILE), path: ['mcpServers'] };
    case 'user':
      return { scope, file: where.home.config, path: ['mcpServers'] };
    default:
      return scope satisfies never;
  }
}

/** Returns the location of a loaded server: for project scope its own file, which may be below the root. */
export function targetOf(spec: ServerSpec, where: { home: Home; projectRoot: string }): EditTarget {
  if (!isEditable(spec.scope)) {
    throw new PlugboardError(
      'USAGE',
      `Server "${spec.name}" is in ${spec.scope} scope, which commands do not write`,
      {
        server: spec.name,
      },
    );
  }
  const target = editTarget(spec.scope, where);
  return spec.file === undefined ? target : { ...target, file: spec.file };
}

/**
 * Writes one server's entry unchanged. With `replace`, comments inside an existing entry are kept.
 *
 * @example
 * await setServer(editTarget('user', where), 'files', { command: 'npx' }, { home });
 * @throws PlugboardError USAGE when the name exists or is invalid, CONFIG_UNWRITABLE when the file does not parse.
 */
export async function setServer(
  target: EditTarget,
  name: string,
  raw: JsonObject,
  options: EditOptions & {
    readonly replace?: boolean | undefined;
    /** Computes the final entry from the one that is replaced, which is undefined if there is none. */
    readonly finish?: ((raw: JsonObject, before: unknown) => JsonObject) | undefined;
  },
): Promise<void> {
  const badName = checkServerName(name);
  if (badName !== undefined) throw new PlugboardError('USAGE', badName, { hint: 'Choose another name.' });
  await change(target.file, options, (root) => {
    const path = serversPath(target, root);
    const before = valueAt(root, [...path, name]);
    if (before !== undefined && !options.replace) {
      throw new PlugboardError(
        'USAGE',
        `Server "${name}" exists already in ${target.scope} scope (${target.file})`,
        {
          server: name,
          hint: 'Use --force to replace it, or choose another name.',
        },
      );
    }
    return { path: [...path, name], value: options.finish?.(raw, before) ?? raw };
  });
}

/** Returns the text of a server's entry, including comments; undefined if there is none. */
export async function entryText(target: EditTarget, name: string): Promise<string | undefined> {
  const { text, value } = await readDocument(target.file);
  const { textAt } = await import('./json-edit.ts');
  return textAt(text, [...serversPath(target, value), name]);
}

/** Replaces the text of a server's entry. `check` throws if the current entry must not be replaced. */
export async function setEntryText(
  target: EditTarget,
  name: string,
  text: string,
  options: EditOptions & { readonly check: (current: unknown) => void },
): Promise<void> {
  await change(target.file, options, (root) => {
    const path = [...serversPath(target, root), name];
    options.check(valueAt(root, path));
    return { path, text };
  });
}

/** Removes a server; returns false, without writing, if it does not exist. */
export async function removeServer(target: EditTarget, name: string, options: EditOptions): Promise<boolean> {
  let found = false;
  await change(target.file, options, (root) => {
    const path = [...serversPath(target, root), name];
    found = valueAt(root, path) !== undefined;
    return found ? { path, value: undefined } : undefined;
  });
  return found;
}

/**
 * Disables a server, or enables it by removing the key; returns false, without writing, if the server does not exist.
 */
export async function setEnabled(
  target: EditTarget,
  name: string,
  enabled: boolean,
  options: EditOptions,
): Promise<boolean> {
  let found = false;
  await change(target.file, options, (root) => {
    const path = [...serversPath(target, root), name];
    const entry = valueAt(root, path);
    found = entry !== undefined;
    if (!found) return undefined;
    const { enabled: before = true, disabled }: JsonObject = isRecord(entry) ? entry : {};
    // Other agents write "disabled": true, which would stay in effect.
    const off = enabled && disabled === true ? [{ path: [...path, 'disabled'], value: undefined }] : [];
    // Enabled is the default, so the key is removed.
    if (before === enabled) return off;
    return [...off, { path: [...path, 'enabled'], value: enabled ? undefined : false }];
  });
  return found;
}

/** Sets one value of a JSON file, or removes it if the value is undefined. */
export async function setValue(
  file: string,
  path: JsonPath,
  value: unknown,
  options: EditOptions,
): Promise<void> {
  await change(file, options, () => ({ path, value }));
}

/** One edit, computed from the file's content while it is locked. */
type Change =
  | { readonly path: JsonPath; readonly value: unknown }
  /** The value as text, with comments. */
  | { readonly path: JsonPath; readonly text: string };

/** Reads, decides and writes under the lock; `decide` may run several times and returns undefined for no change. */
export async function change(
  file: string,
  options: EditOptions,
  decide: (root: unknown) => Change | readonly Change[] | undefined,
): Promise<void> {
  // Files in our home folder are private from the start: they may contain keys.
  const isOurs = dirname(file) === options.home.dir;
  try {
    if (isOurs) await makeFolder(options.home.dir, 0o700);
    await updateFile(file, (text) => edited(file, text ?? '', decide), {
      lockDir: join(options.home.run, 'locks'),
      mode: isOurs ? 0o600 : undefined,
      // The user's own file may be a link to any location; a project's link must stay in the project.
      within: isOurs ? undefined : projectOf(file),
      beforeRename: options.beforeRename,
      signal: options.signal,
    });
  } catch (error) {
    throw error instanceof PlugboardError || options.signal?.aborted ? error : unwritable(file, error);
  }
}

async function edited(
  file: string,
  text: string,
  decide: (root: unknown) => Change | readonly Change[] | undefined,
): Promise<string | undefined> {
  const { value: root, problems } = await parseDocument(file, text);
  const broken = root === undefined ? problems[0] : undefined;
  if (broken) throw brokenFile(broken);
  const changes = [decide(root) ?? []].flat();
  if (changes.length === 0) return undefined;
  const { editJson, replaceTextAt, EditError } = await import('./json-edit.ts');
  try {
    return changes.reduce(
      (changed, each) =>
        'text' in each
          ? replaceTextAt(changed, each.path, each.text)
          : editJson(changed, each.path, each.value),
      text,
    );
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    throw uneditable(file, error);
  }
}

/** The error for a file that does not parse. */
export function brokenFile({ file, line, column, message }: Problem): PlugboardError {
  return notChanged(`${line === undefined ? file : `${file}:${line}:${column ?? 1}`}: ${message}`);
}

/** The error for a file that parses and still cannot be edited. */
export function uneditable(file: string, { message }: Error): PlugboardError {
  return notChanged(`${file} cannot be changed: ${message}`);
}

function notChanged(message: string): PlugboardError {
  return new PlugboardError('CONFIG_UNWRITABLE', message, {
    hint: 'Fix the file first; nothing was changed.',
  });
}

/** For local scope, uses the spelling of the project's folder that the file already has. */
export function serversPath(target: EditTarget, root: unknown): readonly string[] {
  const [first, folder, ...rest] = target.path;
  if (target.scope !== 'local' || first === undefined || folder === undefined) return target.path;
  return [first, projectKey(valueAt(root, [first]), [folder]) ?? folder, ...rest];
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'it would be larger than the system allows'],
  ['EISDIR', 'it is a folder'],
  ['ENOENT', 'its folder does not exist'],
  ['ENOTDIR', 'its folder does not exist'],
  ['ENOTUTF8', 'it is not UTF-8 text'],
  ['ELOCKTIMEOUT', 'another process holds its lock'],
  ['ECHANGED', 'another program keeps changing it'],
  ['ELEADSOUT', 'it is a link that leads out of the project'],
]);

/** Returns the error for a file that could not be written. */
export function unwritable(file: string, error: unknown): PlugboardError {
  const code = errorCode(error);
  const reason = (code !== undefined && REASONS.get(code)) || code || 'unknown reason';
  return new PlugboardError('CONFIG_UNWRITABLE', `${file} cannot be written: ${reason}`, {
    hint:
      code === 'ELEADSOUT'
        ? 'Nothing was changed. Look at where the link leads, and replace it with a file of the project.'
        : 'Nothing was changed; try again when that is fixed.',
    cause: error,
  });
}

/** Writes a switch for one project, or removes it if it is undefined; also removes objects that become empty. */
export async function setSwitch(
  name: string,
  enabled: boolean | undefined,
  { projectRoot, ...options }: EditOptions & { readonly projectRoot: string },
): Promise<void> {
  const { config: file } = options.home;
  await change(file, options, (root) => {
    const target = { scope: 'local', file, path: ['projects', projectRoot, 'servers'] } as const;
    const path = serversPath(target, root);
    const present = valueAt(root, [...path, name]);
    if (enabled !== undefined)
      return { path: [...path, name], value: { ...(isRecord(present) ? present : {}), enabled } };
    if (present === undefined) return undefined;
    const others = Object.keys(Object(valueAt(root, path))).filter((each) => each !== name);
    if (others.length > 0) return { path: [...path, name], value: undefined };
    const project = path.slice(0, -1);
    const rest = Object.keys(Object(valueAt(root, project))).filter((each) => each !== 'servers');
    return { path: rest.length > 0 ? path : project, value: undefined };
  });
}

export async function allowAlways(home: Home, spec: Identity, rule: string): Promise<void> {
  await change(home.config, { home }, (root) => {
    const path = allowPath(spec, root);
    const found = valueAt(root, path);
    const allow = Array.isArray(found) ? found : [];
    return allow.includes(rule) ? undefined : { path, value: [...allow, rule] };
  });
}
