/** Resolves references of a JSON Schema within the schema itself; never fetches anything. */

import { isRecord } from '../../lib/json.ts';
import { followPointer } from './pointer.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Base address of a schema without an `$id`. */
const BASE = 'schema:///';
/** Keywords whose values are data, even if they look like schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
const ANCHOR = /^[a-z_][-a-z0-9._]*$/i;
/** The meta-schemas, which every implementation includes. */
const META_SCHEMA = /^https?:\/\/json-schema\.org\//;
/** Built into Ajv. */
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

interface Scope {
  readonly base: string;
  /** The root of JSON pointers. */
  readonly root: Schema;
}

export class SchemaRefs {
  /** Why the ids of the schema cannot be used; undefined if they can. */
  readonly fault: string | undefined;
  readonly #scopes = new Map<unknown, Scope>();
  readonly #byId = new Map<string, Schema>();
  readonly #whole: Scope;

  constructor(root: Schema) {
    this.#whole = { base: BASE, root };
    this.fault = this.#collect(root);
  }

  /** Returns the target of a reference; undefined if it is not in this schema or refers only to itself. */
  resolve(reference: string, from: Schema): unknown {
    const passed = new Set<unknown>();
    let target: unknown = from;
    for (let next: unknown = reference; typeof next === 'string'; ) {
      target = this.#target(next, this.#scopes.get(target) ?? this.#whole);
      if (passed.has(target)) return undefined;
      passed.add(target);
      // A schema with only a reference is followed at once.
      next = isRecord(target) && Object.keys(target).length === 1 ? target['$ref'] : undefined;
    }
    return target;
  }

  /** True if a reference points to an unknown address outside this schema. */
  isRemote(reference: string, from: Schema): boolean {
    const scope = this.#scopes.get(from) ?? this.#whole;
    if (META_SCHEMA.test(reference) || this.#target(reference, scope) !== undefined) return false;
    const address = resolved(reference, scope.base);
    return address !== undefined && !address.startsWith(BASE) && /^[a-z][a-z0-9+.-]*:\/\//i.test(address);
  }

  #target(reference: string, { base, root }: Scope): unknown {
    if (reference === '' || reference === '#') return root;
    if (reference.startsWith('#/')) return pointed(root, reference);
    if (DRAFT_07.test(reference)) return true;
    const address = resolved(reference, base);
    if (address === undefined) return undefined;
    const [whole = '', fragment = ''] = address.split('#', 2);
    if (!fragment.startsWith('/')) return this.#byId.get(fragment === '' ? whole : address);
    const found = this.#byId.get(whole);
    return found === undefined ? undefined : pointed(found, `#${fragment}`);
  }

  #collect(root: Schema): string | undefined {
    this.#byId.set(BASE, root);
    const waiting: [node: unknown, scope: Scope][] = [[root, this.#whole]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [node, outer] = next;
      if (Array.isArray(node)) {
        for (const member of node) waiting.push([member, outer]);
        continue;
      }
      if (!isRecord(node)) continue;
      const { $id: id } = node;
      const named = typeof id === 'string' && !id.startsWith('#') ? resolved(id, outer.base) : undefined;
      const scope = named === undefined ? outer : { base: named.replace(/#$/, ''), root: node };
      this.#scopes.set(node, scope);
      const names = [
        ...(named === undefined ? [] : [scope.base]),
        ...(typeof id === 'string' && id.startsWith('#') ? [`${outer.base}${id}`] : []),
      ];
      for (const keyword of ['$anchor', '$dynamicAnchor']) {
        const anchor = node[keyword];
        if (typeof anchor !== 'string') continue;
        if (!ANCHOR.test(anchor)) return `${keyword} is not valid`;
        names.push(`${scope.base}#${anchor}`);
      }
      for (const name of new Set(names)) {
        if (this.#byId.has(name)) return `${JSON.stringify(name.replace(BASE, ''))} names two schemas`;
        this.#byId.set(name, node);
      }
      for (const [key, member] of Object.entries(node)) if (!DATA.has(key)) waiting.push([member, scope]);
    }
    return undefined;
  }
}

/**
 * Returns the first reference to a remote address; undefined if there is none. It is never fetched, so values cannot be
 * validated with it. Names that are not an address are ignored.
 */
export function remoteRef(root: Schema): string | undefined {
  let refs: SchemaRefs | undefined;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (Array.isArray(node)) waiting.push(...node);
    if (!isRecord(node)) continue;
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = node[keyword];
      if (typeof reference !== 'string' || reference.startsWith('#')) continue;
      refs ??= new SchemaRefs(root);
      if (refs.isRemote(reference, node)) return reference;
    }
    for (const [key, member] of Object.entries(node)) if (!DATA.has(key)) waiting.push(member);
  }
  return undefined;
}

function resolved(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function pointed(root: Schema, reference: string): unknown {
  const target = followPointer(root, reference)?.target;
  return typeof target === 'boolean' || isRecord(target) ? target : undefined;
}
