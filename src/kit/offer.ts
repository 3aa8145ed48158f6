/**
 * The tools, resources and prompts of one server, by name: added and removed at any time, listed in the protocol's
 * form.
 */

import type { CheckerSource } from '../call/author-check.ts';
import { type ParamHeader, readParamHeaders } from '../catalog/param-headers.ts';
import type { ListKind } from '../endpoint/backend.ts';
import type { Params } from '../endpoint/client-era.ts';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { defined } from '../lib/defined.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { type Access, hasRules, isAdmitted } from './access.ts';
import type { Item, Prompt, Resource, ResourceTemplate, Tool } from './definitions.ts';
import { type Check, createCheck } from './kit-check.ts';

interface Variable {
  readonly name: string;
  /** `{+name}`: its value may contain slashes. */
  readonly reserved: boolean;
  /** The literal text after it, up to the next variable. */
  readonly after: string;
}

interface UriTemplate {
  readonly variables: readonly string[];
  /** Returns the values of the variables; undefined if the URI does not match. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

const VARIABLE = /\{(\+?)([A-Za-z0-9_.]+)\}/g;

/** URI templates (RFC 6570, the simple and the reserved form), matched in one pass over the URI. */
export function parseUriTemplate(template: string): UriTemplate {
  const pieces = [...template.matchAll(VARIABLE)];
  const [first] = pieces;
  const head = template.slice(0, first?.index ?? template.length);
  const variables = pieces.map((piece, at): Variable => {
    const end = piece.index + piece[0].length;
    const next = pieces[at + 1]?.index ?? template.length;
    return { name: piece[2] ?? '', reserved: piece[1] === '+', after: template.slice(end, next) };
  });
  const plain = head + variables.map(({ after }) => after).join('');
  const touching = variables.slice(0, -1).some(({ after }) => after === '');
  if (/[{}]/.test(plain) || variables.length === 0 || touching) {
    throw new PlugboardError('USAGE', `${JSON.stringify(template)} is not a template that can be matched`, {
      hint: 'Use {name} or {+path}, with something between two of them.',
    });
  }
  return { variables: variables.map(({ name }) => name), match: (uri) => match(uri, head, variables) };
}

function match(
  uri: string,
  head: string,
  variables: readonly Variable[],
): Readonly<Record<string, string>> | undefined {
  if (!uri.startsWith(head)) return undefined;
  const values: Record<string, string> = {};
  let from = head.length;
  for (const [at, { name, reserved, after }] of variables.entries()) {
    const last = at === variables.length - 1;
    if (last && !uri.endsWith(after)) return undefined;
    const to = last ? uri.length - after.length : uri.indexOf(after, from);
    const text = uri.slice(from, to);
    const value = attempt(() => decodeURIComponent(text), undefined);
    if (to <= from || value === undefined) return undefined;
    if (!reserved && text.includes('/')) return undefined;
    values[name] = value;
    from = to + after.length;
  }
  return values;
}

const MAX_NAME_CHARS = 64;

/** Returns the problem of a tool's or prompt's name; undefined if every client accepts it. */
function discouragedName(name: string): string | undefined {
  const problems = [
    ...(name.length > MAX_NAME_CHARS ? [`is longer than ${MAX_NAME_CHARS} characters`] : []),
    ...(/\s/.test(name) ? ['has spaces'] : []),
    ...(/\p{Lu}/u.test(name) ? ['has uppercase letters'] : []),
    ...(/[^\w.\-\s\p{Lu}]/u.test(name) ? ['has characters other than letters, digits, _, - and .'] : []),
  ];
  return problems.length === 0 ? undefined : problems.join(', ');
}

async function listOf(template: ResourceTemplate, access: Access): Promise<readonly Params[]> {
  const { mimeType, list } = template;
  const listed = (await list?.(access)) ?? [];
  return listed.map(({ name, ...rest }) => defined({ mimeType, ...rest, name: name ?? rest.uri }));
}

const ANY_OBJECT: Params = { type: 'object', properties: {} };

export interface OfferedTool {
  readonly tool: Tool;
  /** Arguments that modern clients repeat in headers; known once the schema was converted. */
  mirrored: readonly ParamHeader[];
  readonly input: Check | undefined;
  readonly output: Check | undefined;
}

interface OfferedTemplate {
  readonly template: ResourceTemplate;
  readonly parsed: UriTemplate;
}

interface OfferParts {
  readonly checker: CheckerSource;
  readonly warn: (text: string) => void;
}

export class Offer {
  readonly tools: Map<string, OfferedTool> = new Map();
  readonly resources: Map<string, Resource> = new Map();
  readonly templates: Map<string, OfferedTemplate> = new Map();
  readonly prompts: Map<string, Prompt> = new Map();
  readonly changes: Emitter<{ readonly changed: ListKind }> = new Emitter();
  readonly #parts: OfferParts;
  #toolList: readonly Params[] | undefined;

  constructor(parts: OfferParts) {
    this.#parts = parts;
  }

  add(item: Item): Unsubscribe {
    switch (item.kind) {
      case 'tool':
        return this.#put('tools', this.tools, item.name, this.#prepare(item));
      case 'resource':
        return this.#put('resources', this.resources, item.uri, item);
      case 'template': {
        const parsed = parseUriTemplate(item.uriTemplate);
        return this.#put('resources', this.templates, item.uriTemplate, { template: item, parsed });
      }
      case 'prompt':
        this.#complain('prompt', item.name);
        return this.#put('prompts', this.prompts, item.name, item);
      default:
        return item satisfies never;
    }
  }

  /** Returns the tools that a client may use; built once for all clients, and again after a change. */
  listTools(access: () => Access): readonly Params[] | Promise<readonly Params[]> {
    if ([...this.tools.values()].some(({ tool }) => hasRules(tool))) return this.#listAdmitted(access());
    return this.#toolList ?? this.#describeTools();
  }

  /** Returns a tool that a client may use. A promise only for a tool with rules. */
  findTool(name: string, access: Access): OfferedTool | undefined | Promise<OfferedTool | undefined> {
    const offered = this.tools.get(name);
    if (offered === undefined || !hasRules(offered.tool)) return offered;
    return isAdmitted(offered.tool, access).then((admitted) => (admitted ? offered : undefined));
  }

  /** Returns the names of the tools that a client may use. */
  async admittedNames(access: Access): Promise<readonly string[]> {
    const names = [...this.tools.keys()];
    const found = await Promise.all(names.map((name) => this.findTool(name, access)));
    return names.filter((_, at) => found[at] !== undefined);
  }

  async #listAdmitted(access: Access): Promise<readonly Params[]> {
    const [list, names] = await Promise.all([
      this.#toolList ?? this.#describeTools(),
      this.admittedNames(access),
    ]);
    const admitted = new Set(names);
    return list.filter(({ name }) => admitted.has(String(name)));
  }

  // Undefined members are left out of lists, because clients compare and hash them.
  listResources(access: () => Access): readonly Params[] | Promise<readonly Params[]> {
    const own = [...this.resources.values()].map(({ kind: _kind, read: _read, name, ...rest }) =>
      defined({ ...rest, name: name ?? rest.uri }),
    );
    const listing = [...this.templates.values()].filter(({ template }) => template.list !== undefined);
    if (listing.length === 0) return own;
    return Promise.all(listing.map(({ template }) => listOf(template, access()))).then((lists) => {
      const known = new Set(this.resources.keys());
      // A resource with its own definition is listed as that.
      return [...own, ...lists.flat().filter(({ uri }) => !known.has(String(uri)))];
    });
  }

  listTemplates(): readonly Params[] {
    return [...this.templates.values()].map(({ template }) => {
      const { kind: _kind, read: _read, complete: _complete, list: _list, name, ...rest } = template;
      return defined({ ...rest, name: name ?? rest.uriTemplate });
    });
  }

  listPrompts(): readonly Params[] {
    return [...this.prompts.values()].map(({ kind: _kind, get: _get, arguments: args, ...rest }) =>
      defined({
        ...rest,
        arguments: Object.entries(args).map(([name, { complete: _complete, ...about }]) =>
          defined({ name, ...about }),
        ),
      }),
    );
  }

  /** Whether any argument or variable has completions. */
  get completes(): boolean {
    const ofPrompts = [...this.prompts.values()].flatMap((prompt) => Object.values(prompt.arguments));
    return (
      ofPrompts.some(({ complete }) => complete !== undefined) ||
      [...this.templates.values()].some(({ template }) => template.complete !== undefined)
    );
  }

  /** Whether calls of any tool can become tasks. */
  get hasTasks(): boolean {
    return [...this.tools.values()].some(({ tool }) => tool.task !== undefined);
  }

  #prepare(tool: Tool): OfferedTool {
    const { name, input, output } = tool;
    this.#complain('tool', name);
    const { checker } = this.#parts;
    return {
      tool,
      mirrored: [],
      input: input === undefined ? undefined : createCheck(input, 'input', checker),
      output: output === undefined ? undefined : createCheck(output, 'output', checker),
    };
  }

  #complain(what: string, name: string): void {
    const problem = discouragedName(name);
    if (problem !== undefined)
      this.#parts.warn(`The name of the ${what} ${JSON.stringify(name)} ${problem}: some clients refuse it.`);
  }

  #put<Value>(kind: ListKind, into: Map<string, Value>, key: string, value: Value): Unsubscribe {
    if (into.has(key)) {
      throw new PlugboardError('USAGE', `There is already one of ${kind} called ${JSON.stringify(key)}`, {
        hint: 'Names and addresses are unique within a server: choose another one, or remove the first.',
      });
    }
    into.set(key, value);
    this.#changed(kind);
    return () => {
      if (into.get(key) !== value) return;
      into.delete(key);
      this.#changed(kind);
    };
  }

  #changed(kind: ListKind): void {
    if (kind === 'tools') this.#toolList = undefined;
    this.changes.emit('changed', kind);
  }

  async #describeTools(): Promise<readonly Params[]> {
    const offered = [...this.tools.values()];
    const list = await Promise.all(offered.map((each) => this.#describe(each)));
    // A tool that was added in the meantime is for the next list.
    if (
      offered.length === this.tools.size &&
      offered.every((each) => this.tools.get(each.tool.name) === each)
    )
      this.#toolList = list;
    return list;
  }

  /** Describes a tool; one whose schema cannot be converted is listed without it, so that the others are unaffected. */
  async #describe(offered: OfferedTool): Promise<Params> {
    const { tool, input, output } = offered;
    const { kind: _kind, run: _run, errors: _errors, input: _input, output: _output, ...described } = tool;
    const { scopes: _scopes, canAccess: _canAccess, task, ...rest } = described;
    const execution =
      task === undefined ? undefined : { taskSupport: task === true ? 'required' : 'optional' };
    const written = async (check: Check | undefined): Promise<Params | undefined> => {
      try {
        return await check?.describe();
      } catch (thrown) {
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        this.#parts.warn(`A schema of the tool ${JSON.stringify(tool.name)} cannot be listed: ${why}`);
        return undefined;
      }
    };
    const [inputSchema = ANY_OBJECT, outputSchema] = await Promise.all([written(input), written(output)]);
    const read = readParamHeaders(inputSchema);
    if (read.ok) offered.mirrored = read.declared;
    else this.#parts.warn(`Clients will refuse the tool ${JSON.stringify(tool.name)}: ${read.reason}.`);
    return defined({ ...rest, inputSchema, outputSchema, execution });
  }
}
