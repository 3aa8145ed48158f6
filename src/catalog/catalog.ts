/** The catalog: an immutable, versioned snapshot of the newest accepted list of every server. */

import { isDeepStrictEqual } from 'node:util';
import type { EntryBase } from '../config/entry.ts';
import type { Era } from '../connection/eras.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { RuleNames, Spellings } from '../policy/approval.ts';
import { clean, oneLine, shownName } from '../policy/clean.ts';
import { cleanRecord, cleanSchema } from '../policy/clean-value.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import type { AcceptedTool, TaskSupport } from './accept.ts';
import { acceptTools } from './accept-lists.ts';
import { cleanKept } from './clean-block.ts';
import type { Tool, ToolAnnotations } from './tool.ts';
import { toolFilter } from './tool-filter.ts';
import {
  assignNames,
  type NameForm,
  type NameTable,
  type Naming,
  plainName,
  serverNames,
  type ToolKey,
} from './tool-names.ts';

const MAX_INSTRUCTIONS_CHARS = 4_096;

export interface Quarantined {
  readonly tool: string;
  readonly reason: string;
}

/** The accepted definitions of one server. */
export interface ServerListing {
  readonly tools: readonly AcceptedTool[];
  readonly quarantined: readonly Quarantined[];
  /** Tools whose definition changed since they were pinned: listed but blocked (POL-3). */
  readonly held?: readonly AcceptedTool[];
  /** Names of `held` tools that the server did not have when it was first used. */
  readonly heldAsNew?: readonly string[];
  /** True if another server answers than the pinned one: all of its tools are held. */
  readonly holdsIdentity?: boolean;
  /** Repairs, for the log. */
  readonly warnings: readonly string[];
  readonly instructions?: string;
  /** The era of the server, if calls of its tools can become tasks. */
  readonly tasks?: Era;
}

export interface Snapshot {
  readonly version: number;
  /** Sorted by server, then by tool, by code units: the same servers always give the same order (CAT-6). */
  readonly tools: readonly Tool[];
  /** Finds a tool by name: in the host's own form, as `mcp__server__tool`, or as `server__tool`. */
  find(name: string): Tool | undefined;
  /** Finds a held tool by name, so that a call of it can report the reason. */
  findHeld(name: string): ToolKey | undefined;
  /** Returns a tool's name in any form; undefined if the tool does not exist. */
  nameOf(tool: ToolKey, form: NameForm): string | undefined;
  /** Returns the names that permission rules are matched against. */
  ruleNames(tool: ToolKey): RuleNames;
  /**
   * Returns the same catalog as if the other tools did not exist: names are unique among its own tools only. Rules
   * match the names of the whole catalog.
   */
  narrowed(offers: (tool: ToolKey) => boolean): Snapshot;
}

/** Parses a raw list; an invalid tool is omitted with its reason and does not affect others (F56). */
export function readListing(
  items: readonly unknown[],
  options: {
    readonly paramHeaders: boolean;
    readonly instructions?: string | undefined;
    readonly tasks?: Era | undefined;
  },
): ServerListing {
  const accepted = acceptTools(items, { paramHeaders: options.paramHeaders });
  const { instructions, tasks } = options;
  return {
    tools: accepted.accepted,
    quarantined: accepted.rejected.map(({ name, reason }) => ({ tool: shownName(name), reason })),
    warnings: accepted.repaired.map(({ name, notes }) => `${shownName(name)}: ${notes.join('; ')}`),
    ...(instructions === undefined
      ? {}
      : { instructions: clean(instructions, { max: MAX_INSTRUCTIONS_CHARS }) }),
    ...(tasks === undefined ? {} : { tasks }),
  };
}

/** Returns whether calls of a tool may, must or must not be tasks. */
export function taskSupportOf(listing: ServerListing | undefined, tool: string): TaskSupport | undefined {
  const accepted = listing?.tools.find(({ name }) => name === tool);
  return listing === undefined || accepted === undefined ? undefined : supportOf(listing, accepted);
}

/** A modern server decides for each call. */
function supportOf({ tasks }: ServerListing, { taskSupport }: AcceptedTool): TaskSupport | undefined {
  return tasks === undefined ? undefined : (taskSupport ?? (tasks === 'modern' ? 'optional' : undefined));
}

function executionOf(listing: ServerListing, tool: AcceptedTool): Pick<Tool, 'execution'> {
  const support = supportOf(listing, tool);
  return support === undefined || support === 'forbidden' ? {} : { execution: { taskSupport: 'optional' } };
}

/** A tool of a server's list for display, with the reason if it cannot be called. */
export interface ListedTool {
  readonly tool: Tool;
  /** `hidden`: the entry excludes it with `enabledTools` or `disabledTools`. */
  readonly state: 'available' | 'held' | 'hidden';
}

interface Member {
  readonly listing: ServerListing;
  readonly entry: EntryBase;
}

export class Catalog {
  readonly naming: Naming;
  readonly #reserved: readonly string[];
  readonly #servers = new Map<string, Member>();
  /** Caches cleaned definitions across snapshots. */
  readonly #presented = new WeakMap<AcceptedTool, CleanedTool>();
  #version = 0;
  #narrowed = 0;
  #snapshot: Snapshot | undefined;

  readonly #hidden: HiddenReport | undefined;

  /** @param reserved names of the host's own tools; tools of servers cannot use them. */
  constructor(naming: Naming, reserved: readonly string[] = [], hidden?: HiddenReport) {
    this.naming = naming;
    this.#reserved = reserved;
    this.#hidden = hidden;
  }

  /** Sets the listing of a server; false if nothing changed. */
  set(server: string, entry: EntryBase, listing: ServerListing): boolean {
    const known = this.#servers.get(server);
    if (known?.entry === entry && isDeepStrictEqual(known.listing, listing)) return false;
    this.#servers.set(server, { listing, entry });
    this.#changed();
    return true;
  }

  delete(server: string): void {
    if (this.#servers.delete(server)) this.#changed();
  }

  listing(server: string): ServerListing | undefined {
    return this.#servers.get(server)?.listing;
  }

  /** Returns every tool of a server's list, including held and hidden ones, sorted by name as in the snapshot. */
  inspect(server: string): readonly ListedTool[] {
    const member = this.#servers.get(server);
    if (member === undefined) return [];
    const { listing, entry } = member;
    const passes = toolFilter(entry);
    const shown = (accepted: AcceptedTool, state: ListedTool['state']): ListedTool => {
      const cleaned = this.#cleaned(server, accepted);
      const name = this.snapshot.nameOf({ server, tool: accepted.name }, this.naming) ?? accepted.name;
      return {
        tool: { name, server, ...cleaned, ...executionOf(listing, accepted) },
        state: passes(accepted.name) ? state : 'hidden',
      };
    };
    return [
      ...listing.tools.map((tool) => shown(tool, 'available')),
      ...(listing.held ?? []).map((tool) => shown(tool, 'held')),
    ].sort((a, b) => compare(a.tool.tool, b.tool.tool));
  }

  get snapshot(): Snapshot {
    this.#snapshot ??= this.#build();
    return this.#snapshot;
  }

  #cleaned(server: string, accepted: AcceptedTool): CleanedTool {
    return getOrMake(this.#presented, accepted, () => {
      const tool = present(accepted);
      if (wasCleaned(accepted, tool)) this.#hidden?.(server, `the definition of ${shownName(accepted.name)}`);
      return tool;
    });
  }

  #changed(): void {
    this.#version += 1;
    this.#snapshot = undefined;
  }

  /** `within`: the snapshot to narrow, and the tools that it keeps. */
  #build(within?: Narrowing): Snapshot {
    const servers = [...this.#servers].sort(([a], [b]) => compare(a, b));
    const isKept = (key: ToolKey): boolean => within?.offers(key) ?? true;
    const keys = servers
      .flatMap(([server, { listing }]) =>
        [...listing.tools, ...(listing.held ?? [])].map((tool) => ({ server, tool: tool.name })),
      )
      .filter(isKept);
    // Named before filtering, so that hiding a tool does not rename others.
    const tables = new Map<NameForm, NameTable>();
    const tableOf: TableOf = (form) =>
      getOrMake(tables, form, () => assignNames(keys, form, { reserved: this.#reserved }));
    const own = tableOf(this.naming);
    const tools: Tool[] = [];
    const byName = new Map<string, Tool>();
    const heldByName = new Map<string, ToolKey>();
    for (const [server, { listing, entry }] of servers) {
      const passes = toolFilter(entry);
      for (const accepted of [...listing.tools].sort((a, b) => compare(a.name, b.name))) {
        const name = own.nameOf(server, accepted.name);
        if (name === undefined || byName.has(name) || !passes(accepted.name)) continue;
        const whole = within?.whole.find(name);
        // The same object if the name is the same: results are cached by it.
        const tool =
          whole?.server === server && whole.tool === accepted.name && whole.name === name
            ? whole
            : { name, server, ...this.#cleaned(server, accepted), ...executionOf(listing, accepted) };
        tools.push(tool);
        byName.set(name, tool);
      }
      for (const { name: tool } of listing.held ?? []) {
        const name = own.nameOf(server, tool);
        if (name !== undefined && passes(tool)) heldByName.set(name, { server, tool });
      }
    }
    /** Converts a name in another form to the host's own form. */
    const respelled = (name: string): string => {
      const key = tableOf('gateway').keyOf(name) ?? tableOf('mcp__').keyOf(name);
      return (key === undefined ? undefined : own.nameOf(key.server, key.tool)) ?? '';
    };
    const find = (name: string): Tool | undefined => {
      const known = byName.get(name);
      if (known !== undefined) return known;
      const tool = byName.get(respelled(name));
      // Adds at most one entry per form of a tool: gateway clients use no other form.
      if (tool !== undefined) byName.set(name, tool);
      return tool;
    };
    const rules = new WeakMap<ToolKey, RuleNames>();
    const snapshot: Snapshot = {
      version: within === undefined ? this.#version : this.#nextNarrowed(),
      tools,
      find,
      findHeld: (name) =>
        heldByName.size === 0 ? undefined : (heldByName.get(name) ?? heldByName.get(respelled(name))),
      nameOf: ({ server, tool }, form) => tableOf(form).nameOf(server, tool),
      ruleNames:
        within?.whole.ruleNames ?? ((key) => getOrMake(rules, key, () => new ToolRuleNames(key, tableOf))),
      narrowed: (offers) => this.#build({ whole: snapshot, offers }),
    };
    return snapshot;
  }

  /** Narrowed snapshots have versions of their own: two of the same catalog differ. */
  #nextNarrowed(): number {
    this.#narrowed += 1;
    return this.#narrowed;
  }
}

interface Narrowing {
  readonly whole: Snapshot;
  readonly offers: (tool: ToolKey) => boolean;
}

/** Returns the name table of a form, created on first use: most hosts need one. */
type TableOf = (form: NameForm) => NameTable;

/**
 * Names for rule matching, created on first use because most hosts have no rules. A tool that has left the catalog has
 * no assigned names, so rules that deny still apply to it and rules that allow do not.
 */
class ToolRuleNames implements RuleNames {
  readonly rule: string;
  readonly #key: ToolKey;
  readonly #tableOf: TableOf;
  #assigned: Spellings | undefined;
  #all: Spellings | undefined;

  constructor(key: ToolKey, tableOf: TableOf) {
    const { server, tool } = key;
    this.#key = key;
    this.#tableOf = tableOf;
    this.rule = tableOf('mcp__').nameOf(server, tool) ?? plainName(server, tool, 'mcp__');
  }

  get assigned(): Spellings {
    this.#assigned ??= { long: this.#assignedIn('mcp__'), short: this.#assignedIn('gateway') };
    return this.#assigned;
  }

  get all(): Spellings {
    const { server, tool } = this.#key;
    const { long, short } = this.assigned;
    this.#all ??= {
      long: [...long, plainName(server, tool, 'mcp__')],
      short: [...short, plainName(server, tool, 'gateway')],
      server: serverNames(server),
    };
    return this.#all;
  }

  #assignedIn(form: NameForm): readonly string[] {
    const name = this.#tableOf(form).nameOf(this.#key.server, this.#key.tool);
    return name === undefined ? [] : [name];
  }
}

type CleanedTool = Omit<Tool, 'name' | 'server'>;

/** Returns a tool for display to a user or a model, without hidden or misleading text. */
function present(accepted: AcceptedTool): CleanedTool {
  const { title, outputSchema, annotations, _meta } = accepted;
  return {
    tool: accepted.name,
    ...(title === undefined ? {} : { title: oneLine(title) }),
    description: clean(accepted.description),
    inputSchema: cleanSchema(accepted.inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: cleanSchema(outputSchema) }),
    ...(annotations === undefined ? {} : { annotations: cleanAnnotations(annotations) }),
    ...(_meta === undefined ? {} : { _meta: cleanRecord(_meta) }),
    ...cleanKept(accepted),
  };
}

/** True if text was removed; folding a title into one line does not count. */
function wasCleaned(accepted: AcceptedTool, shown: CleanedTool): boolean {
  const { title = '', annotations } = accepted;
  return (
    shown.description !== accepted.description ||
    shown.inputSchema !== accepted.inputSchema ||
    shown.outputSchema !== accepted.outputSchema ||
    shown._meta !== accepted._meta ||
    shown.icons !== accepted.icons ||
    shown.extra !== accepted.extra ||
    clean(title) !== title ||
    (annotations !== undefined && cleanRecord(annotations) !== annotations)
  );
}

function cleanAnnotations(annotations: ToolAnnotations): ToolAnnotations {
  const { title } = annotations;
  const cleaned = cleanRecord(annotations);
  return title === undefined ? cleaned : { ...cleaned, title: oneLine(title) };
}

/** Compares by code units: the same result on every machine and in every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface Instructions {
  readonly server: string;
  /** Cleaned and bounded by the catalog. */
  readonly text: string;
}

export function joinInstructions(all: readonly Instructions[]): string {
  return all.map(({ server, text }) => `## ${server}\n\n${text}`).join('\n\n');
}
