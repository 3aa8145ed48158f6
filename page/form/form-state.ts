/** The state of one generated form: its fields, what was typed, and which fields are invalid. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { afterRender } from '../after-render.ts';
import { type Field, fieldsOf, wholeJsonField } from './field-model.ts';
import { type Input, type InputFault, initialInput, inputOf, readInput } from './field-value.ts';

export interface FormValue {
  readonly value: unknown;
  /** Reasons why the value cannot be sent, each with the name of its field. */
  readonly problems: readonly string[];
}

/** The part of a form that a reload keeps. */
export interface FormDraft {
  readonly isJson: boolean;
  readonly input: Input;
}

export class FormState {
  readonly #schema: unknown;
  readonly #field: Signal<Field>;
  readonly #input: Signal<Input>;
  /** Id of a control → why it is invalid. */
  readonly faults = signal<ReadonlyMap<string, string>>(new Map());
  readonly id: string;
  readonly #onChange: ((draft: FormDraft) => void) | undefined;

  constructor(
    schema: unknown,
    options: {
      readonly id: string;
      readonly draft?: unknown;
      readonly onChange?: (draft: FormDraft) => void;
    },
  ) {
    this.#schema = schema;
    this.id = options.id;
    this.#onChange = options.onChange;
    const draft = isDraft(options.draft) ? options.draft : undefined;
    const field = draft?.isJson === true ? wholeJsonField() : fieldsOf(schema);
    this.#field = signal(field);
    this.#input = signal(draft?.input ?? initialInput(field));
  }

  get field(): ReadonlySignal<Field> {
    return this.#field;
  }

  get input(): ReadonlySignal<Input> {
    return this.#input;
  }

  get isJson(): boolean {
    return this.#field.value.kind === 'json';
  }

  get draft(): FormDraft {
    return { isJson: this.isJson, input: this.#input.value };
  }

  /** Takes what was typed; the fault of the edited control is outdated then. */
  edit(input: Input, controlId?: string): void {
    this.#input.value = input;
    if (controlId !== undefined && this.faults.value.has(controlId)) {
      const faults = new Map(this.faults.value);
      faults.delete(controlId);
      this.faults.value = faults;
    }
    this.#onChange?.(this.draft);
  }

  /** Fills the form with a value. */
  setValue(value: unknown): void {
    this.edit(inputOf(this.#field.value, value));
  }

  read(): FormValue {
    const { value, faults } = this.#read();
    return { value, problems: faults.map(problemText) };
  }

  /** Reads the value, marks invalid fields and focuses the first. */
  check(): FormValue {
    const { value, faults } = this.#read();
    this.#mark(faults);
    return { value, problems: faults.map(problemText) };
  }

  /** Switches between form and JSON, unless the JSON is invalid or the form would lose a value. */
  toggleJson(): void {
    const { value, faults } = this.#read();
    const unreadable = faults.filter(({ isUnreadable }) => isUnreadable);
    if (unreadable.length > 0) {
      this.#mark(unreadable);
      return;
    }
    const next = this.isJson ? fieldsOf(this.#schema) : wholeJsonField();
    const input = inputOf(next, value);
    if (this.isJson) {
      const kept = readInput(next, input, { path: [], labels: [], report: () => {} }) ?? {};
      const lost = lostIn(value, kept, []);
      if (lost !== undefined) {
        const message = `has no field in the form: ${lost.join(' › ') || 'this value'}`;
        this.#mark([{ path: [], labels: [], message }]);
        return;
      }
    }
    this.#field.value = next;
    this.faults.value = new Map();
    this.edit(input);
  }

  controlId(path: readonly number[]): string {
    return [this.id, ...path].join('-');
  }

  #read(): { readonly value: unknown; readonly faults: readonly InputFault[] } {
    const faults: InputFault[] = [];
    const value = readInput(this.#field.value, this.#input.value, {
      path: [],
      labels: [],
      report: (each) => faults.push(each),
    });
    return { value: value ?? {}, faults };
  }

  #mark(faults: readonly InputFault[]): void {
    this.faults.value = new Map(faults.map(({ path, message }) => [this.controlId(path), message]));
    const [first] = faults;
    if (first === undefined) return;
    afterRender(() => {
      const control = document.getElementById(this.controlId(first.path));
      control?.focus();
      control?.scrollIntoView({ block: 'nearest' });
    });
  }
}

function isDraft(value: unknown): value is FormDraft {
  const { isJson, input } = (value ?? {}) as Partial<FormDraft>;
  return typeof isJson === 'boolean' && typeof input === 'object' && input !== null;
}

function problemText({ labels, message }: InputFault): string {
  return labels.length === 0 ? message : `${labels.join(' › ')}: ${message}`;
}

/** Returns the path of the first value that is missing or different in `kept`; undefined if there is none. */
function lostIn(value: unknown, kept: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return value === kept ? undefined : path;
  if (typeof kept !== 'object' || kept === null || Array.isArray(value) !== Array.isArray(kept)) return path;
  for (const [name, each] of Object.entries(value)) {
    const lost = Object.hasOwn(kept, name)
      ? lostIn(each, (kept as Readonly<Record<string, unknown>>)[name], [...path, name])
      : [...path, name];
    if (lost !== undefined) return lost;
  }
  return undefined;
}
