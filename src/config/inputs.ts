/** Questions for values that stand in no file (CFG-9): who uses which, and how each is asked. Nothing is asked here. */

import { isRecord } from '../lib/json-rpc.ts';
import { loadsCode } from './code-variables.ts';
import { type InputQuestion, isForeign, type ServerSpec } from './entry.ts';
import type { Fault, JsonPath } from './fault.ts';
import { INPUTS } from './keys.ts';
import { partsOf } from './reference.ts';

/** Where references are filled in. */
const PLACES = ['command', 'args', 'env', 'cwd', 'url', 'headers', 'oauth'] as const;

/**
 * Reads the list of questions of a file, in the shape of VS Code. A broken list is left out and told about.
 *
 * @param owner whose answers these are, see `inputOwner`
 */
export function parseInputs(
  value: unknown,
  owner: string,
  path: JsonPath = ['inputs'],
): { inputs: readonly InputQuestion[]; faults: readonly Fault[] } {
  if (value === undefined) return { inputs: [], faults: [] };
  const faults: Fault[] = [];
  INPUTS.check(value, path, (fault) => faults.push(fault));
  if (faults.some(({ fatal }) => fatal) || !Array.isArray(value)) return { inputs: [], faults };
  const inputs = value.flatMap((item: unknown): InputQuestion[] =>
    isRecord(item) && typeof item['id'] === 'string' ? [questionOf(item, item['id'], owner)] : [],
  );
  return { inputs, faults };
}

function questionOf(item: Readonly<Record<string, unknown>>, id: string, owner: string): InputQuestion {
  const { description, default: fallback, options, password } = item;
  return {
    id,
    owner,
    // Hidden unless somebody says that it need not be.
    password: password !== false,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof fallback === 'string' ? { fallback } : {}),
    ...(Array.isArray(options) ? { options: options.map(String) } : {}),
  };
}

/** The ids that an entry refers to, each once. */
export function inputIds({ entry }: Pick<ServerSpec, 'entry'>): readonly string[] {
  const members = Object.entries(entry).flatMap(([key, value]) =>
    PLACES.some((place) => place === key) ? [value] : [],
  );
  return [...new Set(members.flatMap(idsIn))];
}

function idsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return partsOf(value).flatMap((part) =>
      part.kind === 'foreign' && part.scheme === 'input' ? [part.id] : [],
    );
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(idsIn) : [];
}

/**
 * Whose answer it is. What a person gave to their own servers is not handed to those of a project or plugin that
 * happen to ask for the same id: they have answers of their own.
 */
export function inputOwner({ scope, baseDir }: Pick<ServerSpec, 'scope' | 'baseDir'>): string {
  return isForeign({ scope }) ? baseDir : '';
}

/** The entry of a project or plugin with the questions that it refers to, so that consent covers both. */
export function withQuestions(spec: ServerSpec, inputs: readonly InputQuestion[]): ServerSpec {
  const ids = isForeign(spec) ? inputIds(spec) : [];
  if (ids.length === 0) return spec;
  return { ...spec, questions: ids.map((id) => questionFor(inputs, inputOwner(spec), id)) };
}

/** The questions whose answers fill an entry, each once. */
export function questionsOf(spec: ServerSpec, inputs: readonly InputQuestion[]): readonly InputQuestion[] {
  if (spec.questions !== undefined) return spec.questions;
  return inputIds(spec).map((id) => questionFor(inputs, inputOwner(spec), id));
}

/**
 * The ids that decide what runs or which address is contacted. In a project's or plugin's entry these need an
 * answer of the person: a default would be the project's own choice, in a place where people read a reference.
 * Of the entry as written: the one that starts may have its answers filled in.
 */
export function decisiveIds({ raw }: Pick<ServerSpec, 'raw'>): ReadonlySet<string> {
  const members = Object.entries(raw).flatMap(([key, value]) => {
    if (key !== 'env') return key !== 'headers' && PLACES.some((place) => place === key) ? [value] : [];
    return Object.entries(isRecord(value) ? value : {}).flatMap(([name, text]) =>
      loadsCode(name) ? [text] : [],
    );
  });
  return new Set(members.flatMap(idsIn));
}

/** The answer that is used where the person has given none. */
export function fallbackOf(spec: ServerSpec, { id, fallback }: InputQuestion): string | undefined {
  return isForeign(spec) && decisiveIds(spec).has(id) ? undefined : fallback;
}

/** How an id is asked about: as its file says, else plainly and hidden. */
export function questionFor(inputs: readonly InputQuestion[], owner: string, id: string): InputQuestion {
  return inputs.find((input) => input.owner === owner && input.id === id) ?? { id, owner, password: true };
}
