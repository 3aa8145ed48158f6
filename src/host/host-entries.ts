/** Entries of servers for a person at the page: their places, their text without secrets, switches of tools, and consent. */

import { createHash } from 'node:crypto';
import { toolFilter } from '../catalog/tool-filter.ts';
import { describeEntry } from '../config/describe.ts';
import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { type EntryPlace, placeOfEntry } from '../config/entry-place.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { type EditableScope, isEditable, isForeign, supplierOf } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { shellWord } from '../lib/shell-word.ts';
import { reveal, visibleJson } from '../policy/clean.ts';
import { consentTerms, replacedBy, shownInputs } from '../policy/consent-terms.ts';
import type { Difference } from '../policy/differences.ts';
import { isUnapproved, needsConsent, runsInProject } from '../policy/needs-consent.ts';
import { consentTo, openTrust } from '../policy/trust.ts';
import { maskOf, restoreHidden } from './hidden-values.ts';
import type { HostCore } from './host-core.ts';

/** One scope that has a server of a name. */
export interface EntryOrigin {
  readonly scope: ServerSpec['scope'];
  readonly file?: string;
  /** Whether this one is used; others are hidden by it, or wait for approval. */
  readonly isUsed: boolean;
  readonly isEditable: boolean;
  readonly enabled: boolean;
}

/** An entry to edit: secrets are replaced by where they are. */
export interface EditedEntry {
  readonly name: string;
  readonly scope: EditableScope;
  readonly file: string;
  readonly entry: JsonObject;
  /** The paths of values that are hidden: sent back unchanged, they stay as they are. */
  readonly hidden: readonly (readonly string[])[];
  /** Identifies this version of the entry. */
  readonly digest: string;
}

/** Everything that a person approves. */
export interface ConsentView {
  readonly name: string;
  readonly state: 'trusted' | 'changed' | 'unknown';
  /** False for an entry that needs no approval. */
  readonly needed: boolean;
  readonly from: 'project' | 'plugin' | 'api' | 'folder' | 'you';
  /** The whole entry as text, with invisible characters written out. */
  readonly shown: string;
  readonly commandLine?: string;
  readonly url?: string;
  /** The folder that it runs in. */
  readonly folder?: string;
  readonly file?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** The server that it replaces once it is approved. */
  readonly replaces?: string;
  /** Differences from what was approved before. */
  readonly changes: readonly Difference[];
  /** Files of the project that it runs, with their SHA-256; a change of them needs a new approval. */
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly terms: string;
  /** Identifies exactly this: an approval must repeat it. */
  readonly digest: string;
}

export class HostEntries {
  readonly #core: HostCore;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Returns every scope that has a server of this name, the one in use first. */
  origins(name: string): readonly EntryOrigin[] {
    const { config } = this.#core;
    const specs = allSpecs(config).filter((spec) => spec.name === name);
    return specs
      .map(
        (spec): EntryOrigin => ({
          scope: spec.scope,
          ...(spec.file === undefined ? {} : { file: spec.file }),
          isUsed: config.servers.includes(spec),
          isEditable: isEditable(spec.scope) && spec.builtIn !== true,
          enabled: spec.entry.enabled !== false,
        }),
      )
      .sort((a, b) => Number(b.isUsed) - Number(a.isUsed));
  }

  /** @throws PlugboardError USAGE for a server whose entry is in no file that can be written. */
  async read(name: string, scope: EditableScope | undefined): Promise<EditedEntry> {
    const { target, value } = await this.#place(name, scope);
    const shown = shownEntry(value, target.file);
    return {
      name,
      scope: target.scope,
      file: target.file,
      entry: shown,
      hidden: hiddenPaths(shown, value),
      digest: digestOf(value),
    };
  }

  /**
   * Returns the entry to write for one that a person has edited: hidden values are those of the file.
   *
   * @throws PlugboardError USAGE if the file has changed, CONFIG_INVALID if a hidden value was moved.
   */
  async edited(
    name: string,
    {
      entry,
      digest,
      scope,
    }: { readonly entry: JsonObject; readonly digest: string; readonly scope?: EditableScope | undefined },
  ): Promise<{ readonly entry: JsonObject; readonly scope: EditableScope }> {
    const { target, value } = await this.#place(name, scope);
    if (digestOf(value) !== digest)
      throw new PlugboardError('USAGE', `The entry of ${name} was changed since it was read`, {
        server: name,
        hint: 'Read it again, and repeat the change.',
      });
    const restored = restoreHidden(entry, shownEntry(value, target.file), value, maskOf(target.file));
    const { unapproved: _mark, ...raw } = isRecord(restored) ? restored : {};
    return { entry: raw, scope: target.scope };
  }

  /**
   * Returns the entry in which a tool is switched on or off.
   *
   * @throws PlugboardError USAGE for a server of a project or plugin, or a tool that a glob switches off.
   */
  async withTool(
    name: string,
    tool: string,
    enabled: boolean,
    scope: EditableScope | undefined,
  ): Promise<{ readonly entry: JsonObject; readonly scope: EditableScope }> {
    const { target, value } = await this.#place(name, scope);
    if (isForeign(target))
      throw new PlugboardError(
        'USAGE',
        `The tools of ${name} are chosen in ${target.file}, which is shared`,
        {
          server: name,
          hint: 'Add a rule that denies the tool, for you only.',
        },
      );
    const raw = isRecord(value) ? value : {};
    const lists = {
      enabledTools: namesIn(raw['enabledTools']),
      disabledTools: namesIn(raw['disabledTools']),
    };
    const off = (lists.disabledTools ?? []).filter((each) => each !== tool);
    const on = lists.enabledTools;
    const disabledTools = enabled ? off : [...off, tool];
    const enabledTools =
      enabled && on !== undefined && !toolFilter({ enabledTools: on })(tool) ? [...on, tool] : on;
    const { enabledTools: _on, disabledTools: _off, unapproved: _mark, ...rest } = raw;
    const chosen = {
      ...(enabledTools === undefined ? {} : { enabledTools }),
      ...(disabledTools.length === 0 ? {} : { disabledTools }),
    };
    if (toolFilter(chosen)(tool) !== enabled)
      throw new PlugboardError('USAGE', `A pattern in the entry of ${name} decides about ${tool}`, {
        server: name,
        hint: 'Edit "enabledTools" and "disabledTools" of the entry.',
      });
    return { entry: { ...rest, ...chosen }, scope: target.scope };
  }

  /** Returns what a person approves: of an entry that waits, else of the one in use. */
  async consent(name: string): Promise<ConsentView> {
    const spec = this.#consented(name);
    const { home, env, config } = this.#core;
    const trust = openTrust({ home, env });
    const verdict = (await trust.verdictsBySpec([spec])).get(spec) ?? { state: 'unknown', changes: [] };
    const { unapproved: _mark, ...raw } = spec.raw;
    const consent = await consentTo(spec, { home, env });
    if (consent === undefined)
      throw new PlugboardError('UNTRUSTED', `${name} names too many files of its project to be reviewed`, {
        server: name,
      });
    const { command, args, url } = raw;
    const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
    const replaces = isForeign(spec) ? replacedBy(spec, config) : undefined;
    const inputs = shownInputs(spec);
    return {
      name,
      state: verdict.state,
      needed: needsConsent(spec),
      from: sourceOf(spec),
      shown: visibleJson(JSON.stringify(raw, undefined, 2)),
      ...(typeof command === 'string' ? { commandLine: reveal(words.map(shellWord).join(' ')) } : {}),
      ...(typeof url === 'string' ? { url: reveal(url) } : {}),
      ...(runsInProject(spec) || isForeign(spec) ? { folder: spec.baseDir } : {}),
      ...(spec.file === undefined ? {} : { file: spec.file }),
      ...(inputs === undefined ? {} : { inputs }),
      ...(replaces === undefined ? {} : { replaces }),
      changes: verdict.changes,
      files: Object.entries(consent.scripts).map(([path, hash]) => ({
        path,
        sha256: typeof hash === 'string' ? hash : canonicalJson(hash),
      })),
      terms: consentTerms(spec),
      digest: consent.hash,
    };
  }

  /**
   * Approves exactly what was shown.
   *
   * @throws PlugboardError USAGE if it has changed since.
   */
  async approve(name: string, digest: string): Promise<void> {
    const spec = this.#consented(name);
    const { home, env } = this.#core;
    const shown = await consentTo(spec, { home, env });
    if (shown?.hash !== digest)
      throw new PlugboardError('USAGE', `${name} has changed since it was shown`, {
        server: name,
        hint: 'Look at it again.',
      });
    await openTrust({ home, env }).grant([spec], digest);
  }

  /** Withdraws an approval. */
  async withdraw(name: string): Promise<void> {
    const { home, env } = this.#core;
    await openTrust({ home, env }).revoke([this.#consented(name)]);
  }

  #consented(name: string): ServerSpec {
    const { config, pool } = this.#core;
    const waiting = config.waiting.find((spec) => spec.name === name);
    const spec = waiting ?? config.servers.find((each) => each.name === name) ?? pool.get(name)?.spec;
    if (spec !== undefined) return spec;
    throw new PlugboardError('UNKNOWN_SERVER', `There is no server called ${JSON.stringify(name)}`, {
      server: name,
    });
  }

  async #place(name: string, scope: EditableScope | undefined): Promise<EntryPlace> {
    const { config, home } = this.#core;
    const place = await placeOfEntry(config, name, { scope, home });
    if (place !== undefined) return place;
    const isKnown = allSpecs(config).some((spec) => spec.name === name);
    throw isKnown
      ? new PlugboardError('USAGE', `The entry of ${name} is in no file that can be changed here`, {
          server: name,
        })
      : new PlugboardError('UNKNOWN_SERVER', `There is no server called ${JSON.stringify(name)}`, {
          server: name,
        });
  }
}

function shownEntry(value: unknown, file: string): JsonObject {
  const raw = isRecord(value) ? value : {};
  // Only its keys are read: unknown ones are shown too.
  return describeEntry({ raw, entry: raw as unknown as ServerEntry, file });
}

function hiddenPaths(
  shown: unknown,
  value: unknown,
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  if (canonicalJson(shown ?? null) === canonicalJson(value ?? null)) return [];
  if (Array.isArray(shown) && Array.isArray(value))
    return shown.flatMap((each, at) => hiddenPaths(each, value[at], [...path, String(at)]));
  if (isRecord(shown) && isRecord(value))
    return Object.keys(shown).flatMap((key) => hiddenPaths(shown[key], value[key], [...path, key]));
  return [path];
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(value ?? null))
    .digest('hex');
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function sourceOf(spec: ServerSpec): ConsentView['from'] {
  if (isUnapproved(spec)) return 'api';
  if (isForeign(spec)) return supplierOf(spec) === 'plugin' ? 'plugin' : 'project';
  return runsInProject(spec) ? 'folder' : 'you';
}
