/** What can be called: an immutable snapshot over the newest good list of every server, with a version. */

import { isDeepStrictEqual } from 'node:util';
import type { EntryBase } from '../config/entry.ts';
import type { Era } from '../connection/eras.ts';
import type { RuleNames, Spellings } from '../policy/approval.ts';
import { clean } from '../policy/clean.ts';
import { cleanSchema } from '../policy/clean-schema.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { HiddenReport } from '../policy/hidden-report.ts';
import type { AcceptedTool, TaskSupport } from './accept.ts';
import { acceptTools } from './accept-lists.ts';
import { cleanKept } from './clean-block.ts';
import { toolFilter } from './filter.ts';
import {
  assignNames,
  type NameForm,
  type NameTable,
  type Naming,
  plainName,
  serverNames,
  type ToolKey,
} from './names.ts';
import type { Tool, ToolAnnotations } from './tool.ts';

const MAX_INSTRUCTIONS_CHARS = 4_096;

export interface Quarantined {
  readonly tool: string;
  readonly reason: string;
}

/** What one server offers, as its listing said it. */
export interface ServerListing {
  readonly tools: readonly AcceptedTool[];
  readonly quarantined: readonly Quarantined[];
  /** Tools that are not what they were when they were pinned: known, and not to be called (POL-3). */
  readonly held?: readonly AcceptedTool[];
  /** Those of `held` that the server did not have when it was first seen. */
  readonly heldAsNew?: readonly string[];
  /** Another server answers than the one that was pinned: all of it is held. */
  readonly holdsIdentity?: boolean;
  /** What was mended so that it could be used, for the log. */
  readonly warnings: readonly string[];
  readonly instructions?: string;
  /** The era of the server, if calls of its tools can become tasks. */
  readonly tasks?: Era;
}

export interface Snapshot {
  readonly version: number;
  /** By server, then by tool, in the order of their code units: the same servers always give the same order (CAT-6). */
  readonly tools: readonly Tool[];
  /** The tool of a name: in the host's own form, as `mcp__server__tool`, or as `server__tool`. */
  find(name: string): Tool | undefined;
  /** A tool of this name that is held back, so that a call of it can say why. */
  findHeld(name: string): ToolKey | undefined;
  /** A tool's name in any form; undefined if there is no such tool. */
  nameOf(tool: ToolKey, form: NameForm): string | undefined;
  /** The names that permission rules are matched against. */
  ruleNames(tool: ToolKey): RuleNames;
}

/** Reads a raw list; one hopeless tool is left out with its reason and harms no other (F56). */
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
    quarantined: accepted.rejected.map(({ name, reason }) => ({ tool: oneLine(name), reason })),
    warnings: accepted.repaired.map(({ name, notes }) => `${oneLine(name)}: ${notes.join('; ')}`),
    ...(instructions === undefined
      ? {}
      : { instructions: clean(instructions, { max: MAX_INSTRUCTIONS_CHARS }) }),
    ...(tasks === undefined ? {} : { tasks }),
  };
}

/** Whether calls of a tool may, must or must not be tasks. */
export function taskSupportOf(listing: ServerListing | undefined, tool: string): TaskSupport | undefined {
  const accepted = listing?.tools.find(({ name }) => name === tool);
  return listing === undefined || accepted === undefined ? undefined : supportOf(listing, accepted);
}

/** A modern server decides on each call. */
function supportOf({ tasks }: ServerListing, { taskSupport }: AcceptedTool): TaskSupport | undefined {
  return tasks === undefined ? undefined : (taskSupport ?? (tasks === 'modern' ? 'optional' : undefined));
}

function executionOf(listing: ServerListing, tool: AcceptedTool): Pick<Tool, 'execution'> {
  const support = supportOf(listing, tool);
  return support === undefined || support === 'forbidden' ? {} : { execution: { taskSupport: 'optional' } };
}

/** A tool of a server's list for a person to look at, with why it cannot be called if it cannot. */
export interface ListedTool {
  readonly tool: Tool;
  /** `hidden`: the entry leaves it out with `enabledTools` or `disabledTools`. */
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
  /** Each definition is cleaned once, however often the snapshot is made anew. */
  readonly #presented = new WeakMap<AcceptedTool, CleanedTool>();
  #version = 0;
  #snapshot: Snapshot | undefined;

  readonly #hidden: HiddenReport | undefined;

  /** @param reserved names of the host's own tools, which no server's may take. */
  constructor(naming: Naming, reserved: readonly string[] = [], hidden?: HiddenReport) {
    this.naming = naming;
    this.#reserved = reserved;
    this.#hidden = hidden;
  }

  /** False when all of this was known: then nothing that was made of it has to be made again. */
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

  /** Every tool of a server's list, also those that are held back or hidden; by name, as in the snapshot. */
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
    let tool = this.#presented.get(accepted);
    if (tool === undefined) {
      tool = present(accepted);
      this.#presented.set(accepted, tool);
      if (wasCleaned(accepted, tool)) this.#hidden?.(server, `the definition of ${oneLine(accepted.name)}`);
    }
    return tool;
  }

  #changed(): void {
    this.#version += 1;
    this.#snapshot = undefined;
  }

  #build(): Snapshot {
    const servers = [...this.#servers].sort(([a], [b]) => compare(a, b));
    const keys = servers.flatMap(([server, { listing }]) =>
      [...listing.tools, ...(listing.held ?? [])].map((tool) => ({ server, tool: tool.name })),
    );
    // Named before anything is filtered, so that hiding a tool renames no other.
    const names = new FormTables(keys, this.#reserved);
    const own = names.of(this.naming);
    const tools: Tool[] = [];
    const byName = new Map<string, Tool>();
    const heldByName = new Map<string, ToolKey>();
    for (const [server, { listing, entry }] of servers) {
      const passes = toolFilter(entry);
      for (const accepted of [...listing.tools].sort((a, b) => compare(a.name, b.name))) {
        const name = own.nameOf(server, accepted.name);
        if (name === undefined || byName.has(name) || !passes(accepted.name)) continue;
        const tool = { name, server, ...this.#cleaned(server, accepted), ...executionOf(listing, accepted) };
        tools.push(tool);
        byName.set(name, tool);
      }
      for (const { name: tool } of listing.held ?? []) {
        const name = own.nameOf(server, tool);
        if (name !== undefined && passes(tool)) heldByName.set(name, { server, tool });
      }
    }
    /** The host's own name of a tool that is spelled in another form. */
    const respelled = (name: string): string => {
      const key = names.of('gateway').keyOf(name) ?? names.of('mcp__').keyOf(name);
      return (key === undefined ? undefined : own.nameOf(key.server, key.tool)) ?? '';
    };
    const find = (name: string): Tool | undefined => {
      const known = byName.get(name);
      if (known !== undefined) return known;
      const tool = byName.get(respelled(name));
      // At most one more entry for each form of a tool: clients of the gateway use no other.
      if (tool !== undefined) byName.set(name, tool);
      return tool;
    };
    const rules = new WeakMap<ToolKey, RuleNames>();
    return {
      version: this.#version,
      tools,
      find,
      findHeld: (name) =>
        heldByName.size === 0 ? undefined : (heldByName.get(name) ?? heldByName.get(respelled(name))),
      nameOf: ({ server, tool }, form) => names.of(form).nameOf(server, tool),
      ruleNames: (key) => {
        let found = rules.get(key);
        if (found === undefined) {
          found = new ToolRuleNames(key, names);
          rules.set(key, found);
        }
        return found;
      },
    };
  }
}

/** One table of names for each form, made when it is first needed: most hosts need one. */
class FormTables {
  readonly #keys: readonly ToolKey[];
  readonly #reserved: readonly string[];
  readonly #tables = new Map<NameForm, NameTable>();

  constructor(keys: readonly ToolKey[], reserved: readonly string[]) {
    this.#keys = keys;
    this.#reserved = reserved;
  }

  of(form: NameForm): NameTable {
    let table = this.#tables.get(form);
    if (table === undefined) {
      table = assignNames(this.#keys, form, { reserved: this.#reserved });
      this.#tables.set(form, table);
    }
    return table;
  }
}

/**
 * Made when a rule is first matched: most hosts have none. A tool that has left the catalog has no assigned names,
 * so rules that deny still apply to it and rules that allow do not.
 */
class ToolRuleNames implements RuleNames {
  readonly rule: string;
  readonly #key: ToolKey;
  readonly #tables: FormTables;
  #assigned: Spellings | undefined;
  #all: Spellings | undefined;

  constructor(key: ToolKey, tables: FormTables) {
    const { server, tool } = key;
    this.#key = key;
    this.#tables = tables;
    this.rule = tables.of('mcp__').nameOf(server, tool) ?? plainName(server, tool, 'mcp__');
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
    const name = this.#tables.of(form).nameOf(this.#key.server, this.#key.tool);
    return name === undefined ? [] : [name];
  }
}

type CleanedTool = Omit<Tool, 'name' | 'server'>;

/** A tool as a person or a model may see it: cleaned of everything that could hide or mislead. */
function present(accepted: AcceptedTool): CleanedTool {
  const { title, outputSchema, annotations, _meta } = accepted;
  return {
    tool: accepted.name,
    ...(title === undefined ? {} : { title: clean(title, { multiline: false }) }),
    description: clean(accepted.description),
    inputSchema: cleanSchema(accepted.inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: cleanSchema(outputSchema) }),
    ...(annotations === undefined ? {} : { annotations: cleanAnnotations(annotations) }),
    ...(_meta === undefined ? {} : { _meta: cleanRecord(_meta) }),
    ...cleanKept(accepted),
  };
}

/** Whether anything was removed; a title that was only folded into one line is not meant. */
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
  return title === undefined ? cleaned : { ...cleaned, title: clean(title, { multiline: false }) };
}

/** A name as it may stand in a line of text. */
export function oneLine(name: string): string {
  return clean(name, { multiline: false, max: 200 });
}

/** By code units: the same on every machine and in every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
