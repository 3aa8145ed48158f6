/** Renders the fields of a JSON Schema; a button switches between the form and JSON. */

import type { ComponentChildren, JSX } from 'preact';
import { Segments } from '../ui/bits.tsx';
import { Bounded } from '../ui/said.tsx';
import type { BoxesField, Field, ListField, ObjectField, TextField, VariantField } from './field-model.ts';
import { fitting, type Input, initialInput, MAX_ITEMS, NOT_SET, textIn } from './field-value.ts';
import type { FormState } from './form-state.ts';

const MAX_NOTE_CHARS = 600;

export interface SchemaFormProps {
  readonly form: FormState;
}

export function SchemaForm({ form }: SchemaFormProps): JSX.Element {
  const field = form.field.value;
  return (
    <div class="form">
      <div class="form-head">
        <button class="link" type="button" onClick={() => form.toggleJson()}>
          {form.isJson ? 'Fill in a form' : 'Edit as JSON'}
        </button>
      </div>
      <div class="form-body">
        <FieldView
          form={form}
          field={field}
          path={[]}
          input={fitting(field, form.input.value)}
          onEdit={(input, id) => form.edit(input, id)}
        />
      </div>
    </div>
  );
}

interface FieldProps<Kind extends Field = Field> {
  readonly form: FormState;
  readonly field: Kind;
  readonly path: readonly number[];
  readonly input: Input;
  readonly onEdit: (input: Input, controlId?: string) => void;
}

function FieldView(props: FieldProps): JSX.Element {
  const { field } = props;
  switch (field.kind) {
    case 'text':
      return <TextControlView {...props} field={field} />;
    case 'number':
      return (
        <Control {...props}>
          {(control) => (
            <input {...control} class="number" type="text" inputMode="decimal" autocomplete="off" />
          )}
        </Control>
      );
    case 'json':
      return (
        <Control {...props}>
          {(control) => (
            <textarea {...control} class="json" rows={field.rows} spellcheck={false} placeholder="JSON" />
          )}
        </Control>
      );
    case 'flag':
      return <FlagView {...props} />;
    case 'choice':
      return (
        <Control {...props}>
          {(control) => (
            <select {...control}>
              {!field.required && <option value="">not set</option>}
              {field.choices.map(({ label }, at) => (
                <option key={at} value={String(at)}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Control>
      );
    case 'fixed':
      return <FixedView {...props} />;
    case 'boxes':
      return <BoxesView {...props} field={field} />;
    case 'object':
      return <ObjectView {...props} field={field} />;
    case 'list':
      return <ListView {...props} field={field} />;
    case 'variant':
      return <VariantView {...props} field={field} />;
    default:
      return field satisfies never;
  }
}

interface ControlProps {
  readonly id: string;
  readonly value: string;
  readonly 'aria-label': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-describedby': string | undefined;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

/** Renders a control with its label, its error and the description in its schema. */
function Control(
  props: FieldProps & { readonly children: (control: ControlProps) => JSX.Element },
): JSX.Element {
  const { form, field, path, input, onEdit, children } = props;
  const id = form.controlId(path);
  const error = form.faults.value.get(id);
  return (
    <div class="field">
      {field.hasLabel && <FieldLabel field={field} id={id} />}
      {children({
        id,
        value: textIn(input),
        'aria-label': field.hasLabel ? undefined : field.label,
        'aria-invalid': error === undefined ? undefined : true,
        'aria-describedby': error === undefined ? undefined : `${id}-error`,
        onInput: (event) => onEdit({ kind: 'typed', text: event.currentTarget.value }, id),
      })}
      <FieldError id={id} error={error} />
      <Note field={field} />
    </div>
  );
}

function FieldLabel({ field, id }: { readonly field: Field; readonly id: string }): JSX.Element {
  return (
    <label for={id}>
      <span class="field-name">{field.label}</span> {field.required && <span class="required">required</span>}
      {field.limits !== '' && <span class="field-limits">{` ${field.limits}`}</span>}
    </label>
  );
}

function FieldError({
  id,
  error,
}: {
  readonly id: string;
  readonly error: string | undefined;
}): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <p class="field-error" id={`${id}-error`}>
      {error}
    </p>
  );
}

function Note({ field }: { readonly field: Field }): JSX.Element | null {
  if (field.note === undefined) return null;
  return <Bounded as="p" class="field-note" text={field.note} max={MAX_NOTE_CHARS} />;
}

function TextControlView(props: FieldProps<TextField>): JSX.Element {
  const { control: kind, placeholder } = props.field;
  return (
    <Control {...props}>
      {(control) =>
        kind === 'area' ? (
          <textarea {...control} rows={3} spellcheck={false} placeholder={placeholder} />
        ) : (
          <input
            {...control}
            // The types of the attributes allow a union of kinds only one by one.
            type={kind as 'text'}
            step={kind === 'time' || kind === 'datetime-local' ? 'any' : undefined}
            spellcheck={false}
            autocomplete="off"
            placeholder={placeholder}
          />
        )
      }
    </Control>
  );
}

const FLAGS = [
  ['', 'not set'],
  ['true', 'yes'],
  ['false', 'no'],
] as const;

/** A required boolean is a checkbox; an optional one can also be left out. */
function FlagView({ form, field, path, input, onEdit }: FieldProps): JSX.Element {
  const id = form.controlId(path);
  const value = textIn(input);
  const set = (text: string): void => onEdit({ kind: 'typed', text }, id);
  if (field.required)
    return (
      <div class="field">
        <label class="choice" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={value === 'true'}
            onChange={(event) => set(String(event.currentTarget.checked))}
          />
          <span class="field-name">{field.label}</span>
        </label>
        <Note field={field} />
      </div>
    );
  return (
    <div class="field">
      {field.hasLabel && (
        <div class="label-line">
          <span class="field-name">{field.label}</span>
        </div>
      )}
      <Segments
        label={field.label}
        options={FLAGS}
        value={FLAGS.find(([each]) => each === value)?.[0] ?? ''}
        onChoose={set}
      />
      <Note field={field} />
    </div>
  );
}

/** A constant: nothing to choose; an optional one can be left out. */
function FixedView({ form, field, path, input, onEdit }: FieldProps): JSX.Element {
  const id = form.controlId(path);
  const shown = JSON.stringify(field.kind === 'fixed' ? field.value : undefined);
  return (
    <div class="field">
      <label class="choice" for={id}>
        {!field.required && (
          <input
            id={id}
            type="checkbox"
            checked={textIn(input) !== ''}
            onChange={(event) => onEdit({ kind: 'typed', text: event.currentTarget.checked ? 'on' : '' }, id)}
          />
        )}
        <span class="field-name">{field.label}</span>
        <code>{shown}</code>
      </label>
      <Note field={field} />
    </div>
  );
}

/** Renders several fields under one legend. */
function Group(props: {
  readonly class?: string;
  readonly field: Field;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { class: name = '', field, children } = props;
  return (
    <fieldset class={name}>
      <legend>
        {field.label} {field.required && <span class="required">required</span>}
      </legend>
      <Note field={field} />
      {children}
    </fieldset>
  );
}

function BoxesView({ form, field, path, input, onEdit }: FieldProps<BoxesField>): JSX.Element {
  const checked = input.kind === 'boxes' ? input.checked : [];
  return (
    <Group class="choices" field={field}>
      {field.choices.map(({ label }, at) => (
        <label key={at} class="choice">
          <input
            id={form.controlId([...path, at])}
            type="checkbox"
            checked={checked[at] === true}
            onChange={(event) =>
              onEdit({
                kind: 'boxes',
                checked: field.choices.map((_, each) =>
                  each === at ? event.currentTarget.checked : checked[each] === true,
                ),
              })
            }
          />
          {label}
        </label>
      ))}
    </Group>
  );
}

function ObjectView({ form, field, path, input, onEdit }: FieldProps<ObjectField>): JSX.Element {
  const inputs = input.kind === 'members' ? input.of : [];
  const members = field.members.map(({ name, field: member }, at) => (
    <FieldView
      key={name}
      form={form}
      field={member}
      path={[...path, at]}
      input={fitting(member, inputs[at])}
      onEdit={(next, id) =>
        onEdit(
          {
            kind: 'members',
            of: field.members.map((each, index) =>
              index === at ? next : fitting(each.field, inputs[index]),
            ),
          },
          id,
        )
      }
    />
  ));
  if (!field.isTop) return <Group field={field}>{members}</Group>;
  return (
    <div class="fields">
      {members.length === 0 && <p class="none">No arguments.</p>}
      {members}
    </div>
  );
}

function ListView({ form, field, path, input, onEdit }: FieldProps<ListField>): JSX.Element {
  const items = input.kind === 'items' ? input.of : [];
  const item = field.item();
  const set = (of: readonly Input[], id?: string): void => onEdit({ kind: 'items', of }, id);
  return (
    <Group field={field}>
      <div class="items">
        {items.map((each, at) => (
          <div key={at} class="item">
            <FieldView
              form={form}
              field={item}
              path={[...path, at]}
              input={fitting(item, each)}
              onEdit={(next, id) => set(items.with(at, next), id)}
            />
            <button
              class="remove"
              type="button"
              title="Remove this item"
              aria-label="Remove this item"
              onClick={() => set(items.filter((_, index) => index !== at))}
            >
              ×
            </button>
          </div>
        ))}
      </div>
      <button
        class="small"
        type="button"
        disabled={items.length >= MAX_ITEMS}
        onClick={() => set([...items, initialInput(item)])}
      >
        Add an item
      </button>
    </Group>
  );
}

function VariantView({ form, field, path, input, onEdit }: FieldProps<VariantField>): JSX.Element {
  const { at, of } = input.kind === 'variant' ? input : { at: NOT_SET, of: undefined };
  const chosen = field.variants[at]?.field();
  const choose = (next: number): void => {
    const variant = field.variants[next]?.field();
    onEdit({ kind: 'variant', at: next, of: variant === undefined ? undefined : initialInput(variant) });
  };
  return (
    <Group class="variants" field={field}>
      <select
        class="variant"
        id={`${form.controlId(path)}-kind`}
        aria-label={`Kind of ${field.label}`}
        value={String(at)}
        onInput={(event) => choose(Number(event.currentTarget.value))}
      >
        {!field.required && <option value={String(NOT_SET)}>not set</option>}
        {field.variants.map(({ label }, index) => (
          <option key={index} value={String(index)}>
            {label}
          </option>
        ))}
      </select>
      {chosen !== undefined && (
        <FieldView
          form={form}
          field={chosen}
          path={[...path, 0]}
          input={fitting(chosen, of)}
          onEdit={(next, id) => onEdit({ kind: 'variant', at, of: next }, id)}
        />
      )}
    </Group>
  );
}
