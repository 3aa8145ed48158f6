/** Shows an elicitation at the terminal: a form field by field, or a url to open (CAL-3). */

import type { ElicitAnswer, ElicitRequest } from '../connection/questions.ts';
import { fieldFault } from '../connection/questions-form.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { reveal, revealLines } from '../policy/clean.ts';
import { Output } from './output.ts';
import { CANCELLED, type Choice, openPrompter, type Prompter } from './prompter.ts';

/** Like `askElicitation`, but Ctrl-C interrupts the command; Escape only cancels the question. */
export async function askOrInterrupt(output: Output, request: ElicitRequest): Promise<ElicitAnswer> {
  // While a prompt is drawn the terminal is in raw mode and sends the key instead of a signal.
  const listen = (
    _text: unknown,
    key: { readonly ctrl?: boolean; readonly name?: string } | undefined,
  ): void => {
    if (key?.ctrl === true && key.name === 'c') process.emit('SIGINT');
  };
  process.stdin.on('keypress', listen);
  try {
    return await askElicitation(output, request);
  } finally {
    process.stdin.off('keypress', listen);
  }
}

export async function askElicitation(output: Output, request: ElicitRequest): Promise<ElicitAnswer> {
  const prompter = await openPrompter(output);
  const { signal } = request;
  const paint = output.questionPaint;
  output.question(`${paint.strong(reveal(request.server))} asks: ${revealLines(request.message)}`);
  if (request.mode === 'url') output.question(`  ${reveal(request.url ?? '')}`);
  if (request.warning !== undefined) output.question(paint.warn(reveal(request.warning)));
  if (request.mode === 'url') {
    const message = `Open ${reveal(request.host ?? 'it')} in your browser?`;
    const open = await prompter.confirm({ message, initial: false, signal });
    return { action: open === CANCELLED ? 'cancel' : open ? 'accept' : 'decline' };
  }
  const content: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(request.schema)) {
    const asking = { output, prompter, signal };
    const value = await askField(asking, name, field, isRequired(request.schema, name));
    if (value === CANCELLED) return { action: 'cancel' };
    if (value !== undefined) content[name] = value;
  }
  const send = await prompter.confirm({ message: `Send this to ${reveal(request.server)}?`, signal });
  if (send === CANCELLED) return { action: 'cancel' };
  return send ? { action: 'accept', content } : { action: 'decline' };
}

/** Asks until the answer is valid for the field, so that the server only receives values it asked for. */
async function askField(
  { output, prompter, signal }: ServerWork,
  name: string,
  field: JsonObject,
  required: boolean,
): Promise<unknown> {
  for (;;) {
    const value = await askOnce(prompter, name, field, required, signal);
    const fault = value === CANCELLED || value === undefined ? undefined : fieldFault(field, value);
    if (fault === undefined) return value;
    output.question(output.questionPaint.warn(sentence(fault)));
  }
}

interface ServerWork {
  readonly output: Output;
  readonly prompter: Prompter;
  readonly signal: AbortSignal | undefined;
}

async function askOnce(
  prompter: Prompter,
  name: string,
  field: JsonObject,
  required: boolean,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const about = typeof field['description'] === 'string' ? ` (${field['description']})` : '';
  const base = {
    message: revealLines(`${typeof field['title'] === 'string' ? field['title'] : name}${about}`),
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
  const read = (text: string): string | number =>
    field['type'] === 'number' || field['type'] === 'integer' ? Number(text) : text;
  const text = await prompter.text({
    ...base,
    ...(initial === undefined ? {} : { initial: String(initial) }),
    fault: (given) => {
      if (given.trim() === '') return required ? 'This is required.' : undefined;
      const fault = fieldFault(field, read(given));
      return fault === undefined ? undefined : sentence(fault);
    },
  });
  if (text === CANCELLED) return text;
  return text.trim() === '' && !required ? undefined : read(text);
}

/** `must be at least 3` → `It must be at least 3.` */
function sentence(fault: string): string {
  return `It ${reveal(fault)}.`;
}

function fieldsOf(schema: ElicitRequest['schema']): [string, JsonObject][] {
  const properties = schema?.['properties'];
  if (!isRecord(properties)) return [];
  return Object.entries(properties).map(([name, field]) => [name, isRecord(field) ? field : {}]);
}

function isRequired(schema: ElicitRequest['schema'], name: string): boolean {
  const required = schema?.['required'];
  return Array.isArray(required) && required.includes(name);
}

/** Returns the choices of a field in all forms: `enum` with or without names, `oneOf` and `anyOf` with titles. */
function choicesOf(field: JsonObject): Choice[] {
  const { enum: values, enumNames: names } = field;
  if (Array.isArray(values)) {
    return values.map((value, at) => ({
      value: String(value),
      label: labelOf((Array.isArray(names) ? names[at] : undefined) ?? value),
    }));
  }
  const titled = field['oneOf'] ?? field['anyOf'];
  if (!Array.isArray(titled)) return [];
  return titled.filter(isRecord).map((each) => ({
    value: String(each['const']),
    label: labelOf(each['title'] ?? each['const']),
  }));
}

/** Returns a label on one line, because choices are drawn one per line. */
function labelOf(value: unknown): string {
  return reveal(String(value).replaceAll(/\s+/g, ' '));
}

/** `question`: an `ElicitRequest` sent by our own daemon; `json`: stdout is reserved for a JSON document. */
export function askForDaemon(question: JsonObject, json: boolean): Promise<ElicitAnswer> {
  const { signal } = new AbortController();
  const output = new Output({ json, env: process.env, signal, onReaderGone: () => {} });
  return askOrInterrupt(output, question as unknown as ElicitRequest);
}
