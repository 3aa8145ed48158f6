/** The input of a form: what was typed into each field, as plain data that can be kept and restored. */

import type { Field, TextField } from './field-model.ts';
import { isObject } from './json-schema.ts';
import { JsonTextError, parseJson } from './json-text.ts';

export const MAX_ITEMS = 200;

/** What was typed into one field. Kept as typed, so that invalid input is not lost. */
export type Input =
  | { readonly kind: 'typed'; readonly text: string }
  | { readonly kind: 'boxes'; readonly checked: readonly boolean[] }
  | { readonly kind: 'members'; readonly of: readonly Input[] }
  | { readonly kind: 'items'; readonly of: readonly Input[] }
  | { readonly kind: 'variant'; readonly at: number; readonly of: Input | undefined };

/** Index of a variant that is not set. */
export const NOT_SET = -1;

/** A part of a value that is invalid: the field's path of indexes, its labels and the reason. */
export interface InputFault {
  readonly path: readonly number[];
  readonly labels: readonly string[];
  readonly message: string;
  /** True if the text could not be parsed, so that no value can be read from it. */
  readonly isUnreadable?: boolean;
}

type Report = (fault: InputFault) => void;

interface Place {
  readonly path: readonly number[];
  readonly labels: readonly string[];
  readonly report: Report;
}

/** Returns the input of an untouched field, with the defaults of its schema. */
export function initialInput(field: Field): Input {
  return inputOf(field, field.schema['default']);
}

/** Returns the input that yields `value`; without a value, the input of an untouched field. */
export function inputOf(field: Field, value: unknown): Input {
  switch (field.kind) {
    case 'text':
      return typed(typeof value === 'string' ? shownText(field, value) : '');
    case 'number':
      return typed(value === undefined ? '' : String(value));
    case 'flag':
      return typed(typeof value === 'boolean' ? String(value) : field.required ? 'false' : '');
    case 'choice': {
      const at = field.choices.findIndex((choice) => isSame(choice.value, value));
      return typed(at >= 0 ? String(at) : field.required && value === undefined ? '0' : '');
    }
    case 'json':
      return typed(value === undefined ? '' : JSON.stringify(value, null, 2));
    case 'fixed':
      return typed(value === undefined && !field.required ? '' : 'on');
    case 'boxes': {
      const values = Array.isArray(value) ? value : [];
      return {
        kind: 'boxes',
        checked: field.choices.map((choice) => values.some((each) => isSame(choice.value, each))),
      };
    }
    case 'object': {
      const own = isObject(value) ? value : undefined;
      return {
        kind: 'members',
        of: field.members.map(({ name, field: member }) =>
          own === undefined ? initialInput(member) : inputOf(member, own[name]),
        ),
      };
    }
    case 'list': {
      const values = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
      return { kind: 'items', of: values.map((each) => inputOf(field.item(), each)) };
    }
    case 'variant':
      return variantInput(field, value);
    default:
      return field satisfies never;
  }
}

function variantInput(field: Extract<Field, { kind: 'variant' }>, value: unknown): Input {
  const found = value === undefined ? NOT_SET : field.variants.findIndex((variant) => variant.fits(value));
  const at = found < 0 && (field.required || value !== undefined) ? 0 : found;
  const variant = field.variants[at];
  if (variant === undefined) return { kind: 'variant', at: NOT_SET, of: undefined };
  const chosen = variant.field();
  return { kind: 'variant', at, of: value === undefined ? initialInput(chosen) : inputOf(chosen, value) };
}

function typed(text: string): Input {
  return { kind: 'typed', text };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Reads the value of a field; undefined if it is not set. Faults are reported, and the rest is read all the same. */
export function readInput(field: Field, given: Input | undefined, place: Place): unknown {
  const input = fitting(field, given);
  switch (field.kind) {
    case 'text':
      return readText(field, textIn(input), place);
    case 'number':
      return readNumber(field, textIn(input).trim(), place);
    case 'flag':
      return textIn(input) === '' ? undefined : textIn(input) === 'true';
    case 'choice':
      return textIn(input) === '' ? undefined : field.choices[Number(textIn(input))]?.value;
    case 'fixed':
      return textIn(input) === '' ? undefined : field.value;
    case 'json':
      return readJson(field, textIn(input), place);
    case 'boxes': {
      const checked = input.kind === 'boxes' ? input.checked : [];
      const chosen = field.choices.filter((_, at) => checked[at]).map(({ value }) => value);
      return chosen.length === 0 && !field.required ? undefined : chosen;
    }
    case 'object':
      return readObject(field, input, place);
    case 'list': {
      const items = input.kind === 'items' ? input.of : [];
      if (items.length === 0) return field.required ? [] : undefined;
      const item = field.item();
      return items.map((each, at) => readInput(item, each, inside(place, at, String(at + 1))));
    }
    case 'variant': {
      const { at, of } = input.kind === 'variant' ? input : { at: NOT_SET, of: undefined };
      const variant = field.variants[at];
      return variant === undefined ? undefined : readInput(variant.field(), of, inside(place, 0));
    }
    default:
      return field satisfies never;
  }
}

/** Returns the input if it belongs to this kind of field: a kept one may be of an earlier definition of the tool. */
export function fitting(field: Field, input: Input | undefined): Input {
  const kinds: Partial<Record<Field['kind'], Input['kind']>> = {
    boxes: 'boxes',
    object: 'members',
    list: 'items',
    variant: 'variant',
  };
  return input?.kind === (kinds[field.kind] ?? 'typed') ? input : initialInput(field);
}

export function textIn(input: Input): string {
  return input.kind === 'typed' ? input.text : '';
}

function inside({ path, labels, report }: Place, at: number, label?: string): Place {
  return { path: [...path, at], labels: label === undefined ? labels : [...labels, label], report };
}

function fault({ path, labels, report }: Place, message: string, isUnreadable = false): void {
  report({ path, labels, message, isUnreadable });
}

function readText(field: TextField, text: string, place: Place): string | undefined {
  if (text === '') {
    if (field.required)
      fault(place, field.minLength > 0 ? 'is required' : 'is required; Edit as JSON can send an empty text');
    return undefined;
  }
  if (text.length < field.minLength) fault(place, `must have at least ${field.minLength} characters`);
  if (text.length > field.maxLength) fault(place, `must have at most ${field.maxLength} characters`);
  if (field.control === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text)) fault(place, 'must be an e-mail address');
  if (field.control === 'url' && !URL.canParse(text))
    fault(place, 'must be a whole address, such as https://example.com');
  return sentText(field, text);
}

/** The browser's controls for times have no time zone; the value is sent in UTC. */
function sentText({ control }: TextField, text: string): string {
  if (control === 'datetime-local' && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  if (control === 'time')
    return /^\d\d:\d\d$/.test(text) ? `${text}:00Z` : /^\d\d:\d\d:\d\d$/.test(text) ? `${text}Z` : text;
  return text;
}

/** Returns a value as the browser's control shows it. */
function shownText({ control }: TextField, text: string): string {
  if (control === 'time') return text.replace(/(?:Z|[+-]\d\d:\d\d)$/, '');
  if (control !== 'datetime-local' || Number.isNaN(Date.parse(text))) return text;
  const at = new Date(text);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function readNumber(field: Extract<Field, { kind: 'number' }>, text: string, place: Place): unknown {
  if (text === '') {
    if (field.required) fault(place, 'is required');
    return undefined;
  }
  const value = Number(text);
  // Kept as typed, so that switching to JSON does not lose it.
  if (Number.isNaN(value)) {
    fault(place, 'must be a number');
    return text;
  }
  if (field.isInteger && !Number.isInteger(value)) fault(place, 'must be a whole number');
  if (value < field.minimum) fault(place, `must be at least ${field.minimum}`);
  if (value > field.maximum) fault(place, `must be at most ${field.maximum}`);
  return value;
}

function readJson(field: Extract<Field, { kind: 'json' }>, text: string, place: Place): unknown {
  if (text.trim() === '') {
    if (field.required && field.hasLabel) fault(place, 'is required');
    return undefined;
  }
  try {
    return parseJson(text);
  } catch (error) {
    fault(place, error instanceof JsonTextError ? error.message : 'is not JSON', true);
    return undefined;
  }
}

function readObject(field: Extract<Field, { kind: 'object' }>, input: Input, place: Place): unknown {
  const inputs = input.kind === 'members' ? input.of : [];
  const faults: InputFault[] = [];
  const found = field.members.flatMap(({ name, field: member }, at) => {
    const memberPlace = inside({ ...place, report: (each) => faults.push(each) }, at, member.label);
    const value = readInput(member, inputs[at], memberPlace);
    return value === undefined ? [] : [[name, value] as const];
  });
  // An optional object without values is omitted.
  const isOmitted = found.length === 0 && !field.required && !faults.some(({ isUnreadable }) => isUnreadable);
  if (isOmitted) return undefined;
  for (const each of faults) place.report(each);
  return Object.fromEntries(found);
}
