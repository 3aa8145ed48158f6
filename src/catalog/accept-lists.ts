/** Parses whole lists (tools, resources, templates, prompts) tolerantly: an invalid item never hides the others. */

import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import { hidesText } from '../policy/clean.ts';
import {
  type AcceptedTool,
  type AcceptToolOptions,
  acceptMeta,
  acceptText,
  acceptTool,
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_TITLE_CHARS,
} from './accept.ts';
import {
  acceptExtra,
  acceptKept,
  type JsonObject,
  type KeptFields,
  kindOf,
  MAX_META_BYTES,
  sizeFault,
} from './accept-bounds.ts';

interface Described extends KeptFields {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly _meta?: JsonObject;
}

export interface ResourceFields extends Described {
  readonly mimeType?: string;
  readonly annotations?: JsonObject;
}

export interface Resource extends ResourceFields {
  readonly uri: string;
  /** In bytes, if the server reports it. */
  readonly size?: number;
}

export interface ResourceTemplate extends ResourceFields {
  readonly uriTemplate: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Unknown members. */
  readonly extra?: JsonObject;
}

export interface Prompt extends Described {
  readonly arguments?: readonly PromptArgument[];
}

/** Result of parsing a list: accepted items, rejected items with reasons, and repairs. */
export interface AcceptedList<T> {
  readonly accepted: readonly T[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  readonly repaired: readonly { readonly name: string; readonly notes: readonly string[] }[];
}

const DESCRIBED = ['name', 'title', 'description', 'icons', '_meta'];
const OF_RESOURCE = [...DESCRIBED, 'mimeType', 'annotations'];
/** The known members of an item, by the member that identifies it. */
const KNOWN: Readonly<Record<'uri' | 'uriTemplate' | 'name', ReadonlySet<string>>> = {
  uri: new Set([...OF_RESOURCE, 'uri', 'size']),
  uriTemplate: new Set([...OF_RESOURCE, 'uriTemplate']),
  name: new Set([...DESCRIBED, 'arguments']),
};
const KNOWN_OF_ARGUMENT: ReadonlySet<string> = new Set(['name', 'title', 'description', 'required']);

type Acceptance<T> = { value: T; id: string; notes: readonly string[] } | { reject: string; name?: string };

export function acceptTools(raw: unknown, options: AcceptToolOptions = {}): AcceptedList<AcceptedTool> {
  return acceptEach(raw, (member) => {
    const outcome = acceptTool(member, options);
    return 'reject' in outcome
      ? outcome
      : { value: outcome.tool, id: outcome.tool.name, notes: outcome.repaired };
  });
}

export function acceptResources(raw: unknown): AcceptedList<Resource> {
  return acceptEach(raw, (member) =>
    acceptDescribed(member, 'uri', (uri, fields, from, note) => {
      const { size } = from;
      const known = typeof size === 'number' && Number.isFinite(size) && size >= 0;
      if (!known && size !== undefined) note(`size is ${JSON.stringify(size)?.slice(0, 80)}: left out`);
      return { uri, ...fields, ...(known ? { size } : {}) };
    }),
  );
}

export function acceptTemplates(raw: unknown): AcceptedList<ResourceTemplate> {
  return acceptEach(raw, (member) =>
    acceptDescribed(member, 'uriTemplate', (uriTemplate, fields) => ({ uriTemplate, ...fields })),
  );
}

export function acceptPrompts(raw: unknown): AcceptedList<Prompt> {
  return acceptEach(raw, (member) =>
    acceptDescribed(member, 'name', (_name, fields, from, note) => {
      const list = from['arguments'];
      if (list !== undefined && !Array.isArray(list)) note(`arguments is ${kindOf(list)}: left out`);
      if (!Array.isArray(list)) return fields;
      return { ...fields, arguments: list.flatMap((argument) => acceptArgument(argument, note)) };
    }),
  );
}

function acceptEach<T>(raw: unknown, accept: (member: unknown) => Acceptance<T>): AcceptedList<T> {
  const accepted: T[] = [];
  const rejected: { name: string; reason: string }[] = [];
  const repaired: { name: string; notes: readonly string[] }[] = [];
  const seen = new Set<string>();
  if (!Array.isArray(raw)) {
    // A missing list and `null` both mean an empty list, without a warning.
    if (raw !== undefined && raw !== null) rejected.push({ name: '', reason: `the list is ${kindOf(raw)}` });
    return { accepted, rejected, repaired };
  }
  for (const [index, member] of raw.entries()) {
    const outcome = accept(member);
    if ('reject' in outcome) {
      rejected.push({ name: outcome.name ?? `#${index + 1}`, reason: outcome.reject });
    } else if (hidesText(outcome.id)) {
      rejected.push({ name: outcome.id, reason: 'its name is written with characters that are not visible' });
    } else if (seen.has(outcome.id)) {
      // The server itself could not distinguish calls of the two.
      rejected.push({ name: outcome.id, reason: 'it is listed more than once: the first one counts' });
    } else {
      seen.add(outcome.id);
      accepted.push(outcome.value);
      if (outcome.notes.length > 0) repaired.push({ name: outcome.id, notes: outcome.notes });
    }
  }
  return { accepted, rejected, repaired };
}

function acceptDescribed<T>(
  raw: unknown,
  idField: 'uri' | 'uriTemplate' | 'name',
  build: (
    id: string,
    fields: ResourceFields,
    from: Record<string, unknown>,
    note: (text: string) => void,
  ) => T,
): Acceptance<T> {
  if (!isRecord(raw)) return { reject: 'it is not an object' };
  const id = raw[idField];
  if (typeof id !== 'string' || id === '') {
    const name = raw['name'];
    return { reject: `it has no ${idField}`, ...(typeof name === 'string' && name !== '' ? { name } : {}) };
  }
  if (id.length > MAX_NAME_CHARS)
    return { reject: `its ${idField} is longer than ${MAX_NAME_CHARS} characters` };

  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const name = acceptText(raw, 'name', MAX_NAME_CHARS, note);
  if (name === undefined) note(`name is missing: its ${idField} is taken`);
  const title = acceptText(raw, 'title', MAX_TITLE_CHARS, note);
  const description = acceptText(raw, 'description', MAX_DESCRIPTION_CHARS, note);
  const meta = acceptMeta(raw, note);
  const fields: ResourceFields = {
    name: name ?? id,
    ...defined({ title, description }),
    ...(idField === 'name' ? undefined : acceptResourceFields(raw, note)),
    ...(meta === undefined ? {} : { _meta: meta }),
    ...acceptKept(raw, KNOWN[idField], note),
  };
  return { value: build(id, fields, raw, note), id, notes };
}

function acceptResourceFields(
  raw: Readonly<Record<string, unknown>>,
  note: (text: string) => void,
): Pick<ResourceFields, 'mimeType' | 'annotations'> {
  const mimeType = acceptText(raw, 'mimeType', MAX_TITLE_CHARS, note);
  const { annotations } = raw;
  const fault = isRecord(annotations)
    ? sizeFault(annotations, MAX_META_BYTES)
    : annotations === undefined
      ? undefined
      : `is ${kindOf(annotations)}`;
  if (fault !== undefined) note(`annotations ${fault}: left out`);
  return {
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(isRecord(annotations) && fault === undefined ? { annotations } : {}),
  };
}

function acceptArgument(raw: unknown, note: (text: string) => void): PromptArgument[] {
  if (typeof raw === 'string' && raw !== '') {
    note(`argument ${JSON.stringify(raw)} is only a name`);
    return [{ name: raw }];
  }
  const name = isRecord(raw) ? raw['name'] : undefined;
  if (!isRecord(raw) || typeof name !== 'string' || name === '') {
    note('an argument without a name is left out');
    return [];
  }
  if (hidesText(name)) {
    note('an argument whose name is written with characters that are not visible is left out');
    return [];
  }
  const title = acceptText(raw, 'title', MAX_TITLE_CHARS, note);
  const description = acceptText(raw, 'description', MAX_DESCRIPTION_CHARS, note);
  const required = raw['required'];
  const extra = acceptExtra(raw, KNOWN_OF_ARGUMENT, note);
  return [
    {
      name,
      ...defined({ title, description }),
      ...(typeof required === 'boolean' ? { required } : {}),
      ...(extra === undefined ? {} : { extra }),
    },
  ];
}
