/** The questions behind `${input:id}` (CFG-9): which entries use them, and how to ask. Asks nothing itself. */

import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import { loadsCode } from './code-variables.ts';
import { INPUTS } from './config-keys.ts';
import type { InputDefinition, InputQuestion, ServerSpec } from './entry.ts';
import type { Fault, JsonPath } from './fault.ts';
import { partsIn, REFERENCE_KEYS } from './reference.ts';
import { isForeign } from './scopes.ts';

/**
 * Parses the `inputs` of a file, in the format of VS Code. An invalid list is ignored and reported.
 *
 * @param owner the owner of the answers, see `inputOwner`
 */
export function parseInputs(
  value: unknown,
  owner: string,
  path: JsonPath = ['inputs'],
): { inputs: readonly InputQuestion[]; faults: readonly Fault[] } {
  if (value === undefined) return { inputs: [], faults: [] };
  const faults: Fault[] = [];
  if (!INPUTS.check(value, path, (fault) => faults.push(fault))) return { inputs: [], faults };
  const inputs = value.flatMap(({ id, ...item }) => (id === undefined ? [] : [questionOf(id, item, owner)]));
  return { inputs, faults };
}

function questionOf(id: string, item: Omit<InputDefinition, 'id'>, owner: string): InputQuestion {
  const { description, default: fallback, options, password } = item;
  return {
    id,
    owner,
    // Hidden unless the file sets it to false.
    password: password !== false,
    ...defined({ description, fallback, options }),
  };
}

/** Returns the distinct ids that an entry refers to. */
export function inputIds({ entry }: Pick<ServerSpec, 'entry'>): readonly string[] {
  const members = Object.entries(entry).flatMap(([key, value]) =>
    REFERENCE_KEYS.some((place) => place === key) ? [value] : [],
  );
  return [...new Set(members.flatMap(idsIn))];
}

function idsIn(value: unknown): string[] {
  return partsIn(value).flatMap((part) =>
    part.kind === 'foreign' && part.scheme === 'input' ? [part.id] : [],
  );
}

/**
 * Returns the owner of an answer. Answers for the user's own servers are not given to those of a project or plugin that
 * use the same id: these have their own answers.
 */
export function inputOwner({ scope, baseDir }: Pick<ServerSpec, 'scope' | 'baseDir'>): string {
  return isForeign({ scope }) ? baseDir : '';
}

/** Adds the questions that the entry of a project or plugin refers to, so that approval covers both. */
export function withQuestions(spec: ServerSpec, inputs: readonly InputQuestion[]): ServerSpec {
  const ids = isForeign(spec) ? inputIds(spec) : [];
  if (ids.length === 0) return spec;
  return { ...spec, questions: ids.map((id) => questionFor(inputs, inputOwner(spec), id)) };
}

/** Returns the distinct questions whose answers an entry needs. */
export function questionsOf(spec: ServerSpec, inputs: readonly InputQuestion[]): readonly InputQuestion[] {
  if (spec.questions !== undefined) return spec.questions;
  return inputIds(spec).map((id) => questionFor(inputs, inputOwner(spec), id));
}

/**
 * Returns the ids that determine which program runs or which URL is contacted. In a project's or plugin's entry these
 * need an answer of the user: a default would be the project's own choice, where people see only a reference. Uses the
 * entry as written: the one that starts may have its answers filled in.
 */
export function decisiveIds({ raw }: Pick<ServerSpec, 'raw'>): ReadonlySet<string> {
  const members = Object.entries(raw).flatMap(([key, value]) => {
    if (key !== 'env')
      return key !== 'headers' && REFERENCE_KEYS.some((place) => place === key) ? [value] : [];
    return Object.entries(isRecord(value) ? value : {}).flatMap(([name, text]) =>
      loadsCode(name) ? [text] : [],
    );
  });
  return new Set(members.flatMap(idsIn));
}

/** Returns the value to use if the user has given none. */
export function fallbackOf(spec: ServerSpec, { id, fallback }: InputQuestion): string | undefined {
  return isForeign(spec) && decisiveIds(spec).has(id) ? undefined : fallback;
}

/** Returns the question for an id: from its file, else a plain hidden one. */
export function questionFor(inputs: readonly InputQuestion[], owner: string, id: string): InputQuestion {
  return inputs.find((input) => input.owner === owner && input.id === id) ?? { id, owner, password: true };
}
