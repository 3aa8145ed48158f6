/** A server's question to the person at the terminal: a form field by field, or an address to open (CAL-3). */

import type { ElicitAnswer, ElicitRequest } from '../connection/questions.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { reveal, revealLines } from '../policy/clean.ts';
import type { Output } from './output.ts';
import { CANCELLED, type Choice, openPrompter, type Prompter } from './prompter.ts';

type Field = Readonly<Record<string, unknown>>;

export async function askElicitation(output: Output, request: ElicitRequest): Promise<ElicitAnswer> {
  const prompter = await openPrompter(output);
  const { signal } = request;
  output.line(`${output.paint.strong(reveal(request.server))} asks: ${revealLines(request.message)}`);
  if (request.mode === 'url') output.line(`  ${reveal(request.url ?? '')}`);
  if (request.warning !== undefined) output.line(output.paint.warn(reveal(request.warning)));
  if (request.mode === 'url') {
    const message = `Open ${reveal(request.host ?? 'it')} in your browser?`;
    const open = await prompter.confirm({ message, initial: false, signal });
    return { action: open === CANCELLED ? 'cancel' : open ? 'accept' : 'decline' };
  }
  const content: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(request.schema)) {
    const value = await askField(prompter, name, field, isRequired(request.schema, name), signal);
    if (value === CANCELLED) return { action: 'cancel' };
    if (value !== undefined) content[name] = value;
  }
  const send = await prompter.confirm({ message: `Send this to ${reveal(request.server)}?`, signal });
  if (send === CANCELLED) return { action: 'cancel' };
  return send ? { action: 'accept', content } : { action: 'decline' };
}

async function askField(
  prompter: Prompter,
  name: string,
  field: Field,
  required: boolean,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const about = typeof field['description'] === 'string' ? ` (${field['description']})` : '';
  const base = {
    message: reveal(`${typeof field['title'] === 'string' ? field['title'] : name}${about}`),
    signal,
  };
  const choices = choicesOf(field['type'] === 'array' && isRecord(field['items']) ? field['items'] : field);
  const { default: initial } = field;
  if (field['type'] === 'array') {
    const preset = Array.isArray(initial) ? { initial: initial.map(String) } : {};
    return prompter.choices({ ...base, choices, required, ...preset });
  }
  if (choices.length > 0) {
    return prompter.choice({
      ...base,
      choices,
      ...(initial === undefined ? {} : { initial: String(initial) }),
    });
  }
  if (field['type'] === 'boolean') return prompter.confirm({ ...base, initial: initial === true });
  const numeric = field['type'] === 'number' || field['type'] === 'integer';
  const text = await prompter.text({
    ...base,
    ...(initial === undefined ? {} : { initial: String(initial) }),
    fault: (value) => fault(value, field, required),
  });
  if (text === CANCELLED) return text;
  if (text === '' && !required) return undefined;
  return numeric ? Number(text) : text;
}

/** The common faults at once; the host checks the whole answer before the server gets it. */
function fault(value: string, field: Field, required: boolean): string | undefined {
  if (value === '') return required ? 'This is needed.' : undefined;
  if (field['type'] === 'integer' && !/^[+-]?\d+$/.test(value)) return 'A whole number, please.';
  if (field['type'] === 'number' && !Number.isFinite(Number(value))) return 'A number, please.';
  const { minLength, maxLength } = field;
  if (typeof minLength === 'number' && value.length < minLength) return `At least ${minLength} characters.`;
  if (typeof maxLength === 'number' && value.length > maxLength) return `At most ${maxLength} characters.`;
  return undefined;
}

function fieldsOf(schema: ElicitRequest['schema']): [string, Field][] {
  const properties = schema?.['properties'];
  if (!isRecord(properties)) return [];
  return Object.entries(properties).map(([name, field]) => [name, isRecord(field) ? field : {}]);
}

function isRequired(schema: ElicitRequest['schema'], name: string): boolean {
  const required = schema?.['required'];
  return Array.isArray(required) && required.includes(name);
}

/** All ways in which a form offers choices: `enum` with or without names, `oneOf` and `anyOf` with titles. */
function choicesOf(field: Field): Choice[] {
  const { enum: values, enumNames: names } = field;
  if (Array.isArray(values)) {
    return values.map((value, at) => ({
      value: String(value),
      label: reveal(String((Array.isArray(names) ? names[at] : undefined) ?? value)),
    }));
  }
  const titled = field['oneOf'] ?? field['anyOf'];
  if (!Array.isArray(titled)) return [];
  return titled.filter(isRecord).map((each) => ({
    value: String(each['const']),
    label: reveal(String(each['title'] ?? each['const'])),
  }));
}
