/** Renders a JSON Schema as a form; parts without a suitable field are edited as JSON. */

import { h, plain, props, replace } from './dom.js';
import { parseJson } from './json-text.js';
import { bounded, cut } from './said.js';
import { choicesOf, fits, isObject, limitsOf, nameOf, resolve, typeOf } from './schema.js';

const MAX_DEPTH = 6;
const MAX_ITEMS = 200;
/** An array with more choices than this has a select for each item instead of checkboxes. */
const MAX_BOXES = 20;
const MAX_FIELDS = 200;
const MAX_VARIANTS = 50;
const MAX_LABEL_CHARS = 200;
const MAX_NOTE_CHARS = 600;
const LONG_NAMES =
  /^(text|content|contents|body|code|prompt|message|query|script|sql|html|markdown|description|input)$/i;

/** Placeholders of formats that are hard to guess. */
const FORMATS = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:00:00Z',
  time: '09:00:00Z',
  duration: 'P1DT2H',
};

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return `field-${lastId}`;
};

/**
 * Returns `element`, `read()` → `{ value, problems }`, and `check()`, which also marks invalid fields and focuses the
 * first. A button switches between the form and JSON.
 */
export function schemaForm(schema, { value } = {}) {
  const root = isObject(schema) ? schema : {};
  const body = h('div.form-body');
  let field;
  let isJson = false;
  const show = (json, next) => {
    isJson = json;
    field = next;
    replace(body, field.element);
    toggle.textContent = json ? 'Fill in a form' : 'Edit as JSON';
  };
  const read = () => {
    const faults = [];
    const found = field.read((path, message, control) => faults.push({ path, message, control }), []);
    return { value: found ?? {}, faults };
  };
  /** Switches between form and JSON, unless the JSON is invalid or the form would lose a value. */
  const change = () => {
    const { value: now, faults } = read();
    const broken = faults.filter(({ message }) => message.startsWith('is not JSON'));
    if (broken.length > 0) return mark(broken);
    const next = withValue(isJson ? topField(root) : wholeJsonField(), now);
    const lost = isJson ? lostIn(now, next.read(() => {}, []) ?? {}, []) : undefined;
    if (lost !== undefined)
      return mark([
        { message: `has no field in the form: ${lost.join(' › ') || 'this value'}`, control: field.control },
      ]);
    show(!isJson, next);
  };
  const toggle = h('button.link', props({ type: 'button', onclick: change }));
  show(false, value === undefined ? topField(root) : withValue(topField(root), value));
  const toResult = ({ value: now, faults }) => ({ value: now, problems: faults.map(problemText) });
  return {
    element: h('div.form', h('div.form-head', toggle), body),
    read: () => toResult(read()),
    check() {
      const result = read();
      mark(result.faults);
      return toResult(result);
    },
  };
}

function withValue(field, value) {
  field.write(value);
  return field;
}

const problemText = ({ path = [], message }) =>
  path.length === 0 ? message : `${path.join(' › ')}: ${message}`;

/** Marks invalid fields with the reason until they are edited, and focuses the first. */
function mark(faults) {
  const marked = faults.filter(({ control }) => control !== undefined);
  for (const { message, control } of marked) {
    control.unmark?.();
    const reason = h('p.field-error', message);
    reason.id = `${control.id}-error`;
    control.after(reason);
    control.setAttribute('aria-invalid', 'true');
    control.setAttribute('aria-describedby', reason.id);
    control.unmark = () => {
      reason.remove();
      control.removeAttribute('aria-invalid');
      control.removeAttribute('aria-describedby');
      control.removeEventListener('input', control.unmark);
    };
    control.addEventListener('input', control.unmark);
  }
  const [first] = marked;
  if (first === undefined) return;
  first.control.focus();
  first.control.scrollIntoView({ block: 'nearest' });
}

/** Returns the path of the first value that is missing or different in `kept`; undefined if there is none. */
function lostIn(value, kept, path) {
  if (typeof value !== 'object' || value === null) return value === kept ? undefined : path;
  if (typeof kept !== 'object' || kept === null || Array.isArray(value) !== Array.isArray(kept)) return path;
  for (const [name, each] of Object.entries(value)) {
    const lost = Object.hasOwn(kept, name) ? lostIn(each, kept[name], [...path, name]) : [...path, name];
    if (lost !== undefined) return lost;
  }
  return undefined;
}

const wholeJsonField = () => jsonField({}, { required: true, rows: 10, label: 'All values as JSON' });

/** Creates the field of the whole schema; falls back to JSON if a form cannot be built. */
function topField(root) {
  try {
    return fieldFor(root, context(root), { required: true, top: true });
  } catch {
    return wholeJsonField();
  }
}

function context(root) {
  return { root, depth: 0, fields: { left: MAX_FIELDS } };
}

function fieldFor(unresolved, where, options) {
  const schema = resolve(unresolved, where);
  where.fields.left -= 1;
  if (where.depth > MAX_DEPTH || where.fields.left < 0) return jsonField(schema, options);
  const choices = choicesOf(schema);
  if (choices !== undefined) return choiceField(schema, choices, options);
  const alternatives = schema.oneOf ?? schema.anyOf;
  const variants = Array.isArray(alternatives)
    ? alternatives.slice(0, MAX_VARIANTS).filter((each) => resolve(each, where).type !== 'null')
    : [];
  if (variants.length > 1) return variantField(schema, variants, where, options);
  if (variants.length === 1)
    return fieldFor(
      { ...schema, oneOf: undefined, anyOf: undefined, ...resolve(variants[0], where) },
      where,
      options,
    );
  switch (typeOf(schema)) {
    case 'boolean':
      return choiceField(
        schema,
        [
          { value: true, label: 'true' },
          { value: false, label: 'false' },
        ],
        options,
      );
    case 'integer':
    case 'number':
      return numberField(schema, options);
    case 'string':
      return textField(schema, options);
    case 'object':
      return objectField(schema, where, options);
    case 'array':
      return arrayField(schema, where, options);
    default:
      return jsonField(schema, options);
  }
}

/** Renders a control with its label and the description in its schema. */
function labelled(control, schema, { name, required, label: fallbackLabel = 'Value' }) {
  const id = nextId();
  control.id = id;
  const note = noteOf(schema);
  if (name === undefined) {
    control.setAttribute('aria-label', labelOf(schema.title ?? fallbackLabel));
    return h('div.field', control, note);
  }
  const label = h(
    'label',
    props({ for: id }),
    h('span.field-name', labelOf(schema.title ?? name)),
    ' ',
    required ? h('span.required', 'required') : '',
  );
  const limits = limitsOf(schema);
  if (limits !== '') label.append(' ', h('span.field-limits', limits));
  return h('div.field', label, control, note);
}

function labelOf(text) {
  return cut(plain(text), MAX_LABEL_CHARS);
}

function noteOf({ description }) {
  return description === undefined ? '' : bounded('p.field-note', description, { max: MAX_NOTE_CHARS });
}

function textField(schema, options) {
  const long =
    LONG_NAMES.test(options.name ?? '') ||
    schema.contentMediaType !== undefined ||
    (schema.maxLength ?? 0) > 200;
  const control = long
    ? h('textarea', props({ rows: 3, spellcheck: false }))
    : h('input', props({ type: 'text', spellcheck: false, autocomplete: 'off' }));
  const { default: fallback } = schema;
  if (typeof fallback === 'string') control.value = fallback;
  else if (Array.isArray(schema.examples)) control.placeholder = labelOf(schema.examples[0] ?? '');
  else if (Object.hasOwn(FORMATS, schema.format ?? '')) control.placeholder = FORMATS[schema.format];
  return {
    element: labelled(control, schema, options),
    read(problem, path) {
      if (control.value === '' && !options.required) return undefined;
      if (control.value === '') {
        problem(
          path,
          schema.minLength > 0 ? 'is required' : 'is required; Edit as JSON can send an empty text',
          control,
        );
        return undefined;
      }
      return control.value;
    },
    write(value) {
      control.value = typeof value === 'string' ? value : '';
    },
  };
}

function numberField(schema, options) {
  const control = h('input.number', props({ type: 'text', inputMode: 'decimal', autocomplete: 'off' }));
  if (typeof schema.default === 'number') control.value = String(schema.default);
  return {
    element: labelled(control, schema, options),
    read(problem, path) {
      const text = control.value.trim();
      if (text === '') {
        if (options.required) problem(path, 'is required', control);
        return undefined;
      }
      const value = Number(text);
      // Kept as typed, so that switching to JSON does not lose it.
      if (Number.isNaN(value)) {
        problem(path, 'must be a number', control);
        return text;
      }
      if (typeOf(schema) === 'integer' && !Number.isInteger(value))
        problem(path, 'must be a whole number', control);
      return value;
    },
    write(value) {
      control.value = value === undefined ? '' : String(value);
    },
  };
}

function choiceField(schema, choices, options) {
  const control = h(
    'select',
    options.required ? '' : h('option', props({ value: '' }), 'not set'),
    ...choices.map(({ label }, at) => h('option', props({ value: String(at) }), labelOf(label))),
  );
  const write = (value) => {
    const at = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
    if (at >= 0) control.value = String(at);
    else control.selectedIndex = 0;
  };
  if (schema.default !== undefined) write(schema.default);
  return {
    element: labelled(control, schema, options),
    read: () => (control.value === '' ? undefined : choices[Number(control.value)]?.value),
    write,
  };
}

function jsonField(schema, options) {
  const control = h(
    'textarea.json',
    props({ rows: options.rows ?? 3, spellcheck: false, placeholder: 'JSON' }),
  );
  const write = (value) => {
    control.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  };
  if (schema.default !== undefined) write(schema.default);
  return {
    control,
    element: labelled(control, schema, options),
    read(problem, path) {
      if (control.value.trim() === '') {
        if (options.required && options.name !== undefined) problem(path, 'is required', control);
        return undefined;
      }
      try {
        return parseJson(control.value);
      } catch (error) {
        problem(path, error.message, control);
        if (error.position !== undefined) control.setSelectionRange(error.position, error.position + 1);
        return undefined;
      }
    },
    write,
  };
}

function objectField(schema, where, options) {
  const inner = { ...where, depth: where.depth + 1 };
  const requiredNames = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
  if ((names.length === 0 && !options.top) || names.length > MAX_FIELDS) return jsonField(schema, options);
  // Required fields come first; otherwise the author's order is kept.
  const ordered = [
    ...names.filter((name) => requiredNames.includes(name)),
    ...names.filter((name) => !requiredNames.includes(name)),
  ];
  const members = ordered.map((name) => [
    name,
    fieldFor(schema.properties[name], inner, { name, required: requiredNames.includes(name) }),
  ]);
  const fields = members.map(([, field]) => field.element);
  const element = options.top
    ? h('div.fields', names.length === 0 ? h('p.none', 'No arguments.') : '', ...fields)
    : group('fieldset', schema, options, 'object', ...fields);
  return {
    element,
    read(problem, path) {
      const problems = [];
      const found = members.flatMap(([name, field]) => {
        const label = labelOf(resolve(schema.properties[name], where).title ?? name);
        const value = field.read((...problemArgs) => problems.push(problemArgs), [...path, label]);
        return value === undefined ? [] : [[name, value]];
      });
      // An optional object without values is omitted.
      if (found.length === 0 && !options.required) return undefined;
      for (const problemArgs of problems) problem(...problemArgs);
      return Object.fromEntries(found);
    },
    write(value) {
      for (const [name, field] of members) field.write(value?.[name]);
    },
  };
}

function arrayField(schema, where, options) {
  if (Array.isArray(schema.prefixItems) || Array.isArray(schema.items)) return jsonField(schema, options);
  const choices = choicesOf(resolve(schema.items ?? {}, where)) ?? [];
  if (choices.length > 0 && choices.length <= MAX_BOXES) return boxesField(schema, choices, options);
  const inner = { ...where, depth: where.depth + 1 };
  const items = [];
  const label = `Item of ${labelOf(schema.title ?? options.name ?? 'the list')}`;
  const list = h('div.items');
  const add = (value) => {
    if (items.length >= MAX_ITEMS) return;
    const field = fieldFor(schema.items ?? {}, inner, { required: true, label });
    if (value !== undefined) field.write(value);
    const remove = h(
      'button.remove',
      props({ type: 'button', title: 'Remove this item', aria: { label: 'Remove this item' } }),
      '×',
    );
    const row = h('div.item', field.element, remove);
    remove.addEventListener('click', () => {
      items.splice(items.indexOf(field), 1);
      row.remove();
    });
    items.push(field);
    list.append(row);
  };
  const addButton = h('button.small', props({ type: 'button', onclick: () => add() }), 'Add an item');
  for (const value of Array.isArray(schema.default) ? schema.default : []) add(value);
  return {
    element: group('fieldset', schema, options, 'list', list, addButton),
    read(problem, path) {
      if (items.length === 0) return options.required ? [] : undefined;
      return items.map((field, at) => field.read(problem, [...path, String(at + 1)]));
    },
    write(values) {
      items.length = 0;
      replace(list);
      for (const value of Array.isArray(values) ? values : []) add(value);
    },
  };
}

/** Creates checkboxes for an array of choices; an array with repeated choices must be edited as JSON. */
function boxesField(schema, choices, options) {
  const boxes = choices.map(() => h('input', props({ type: 'checkbox' })));
  const write = (values) => {
    const selected = (Array.isArray(values) ? values : []).map((value) => JSON.stringify(value));
    for (const [at, box] of boxes.entries())
      box.checked = selected.includes(JSON.stringify(choices[at].value));
  };
  write(schema.default);
  return {
    element: group(
      'fieldset.choices',
      schema,
      options,
      'list',
      ...boxes.map((box, at) => h('label.choice', box, labelOf(choices[at].label))),
    ),
    read() {
      const chosen = choices.filter((_, at) => boxes[at].checked).map(({ value }) => value);
      return chosen.length === 0 && !options.required ? undefined : chosen;
    },
    write,
  };
}

/** Renders several fields under one legend. */
function group(kind, schema, options, fallback, ...children) {
  const required = options.required ? h('span.required', 'required') : '';
  return h(
    kind,
    h('legend', labelOf(schema.title ?? options.name ?? fallback), ' ', required),
    noteOf(schema),
    ...children,
  );
}

function variantField(schema, variants, where, options) {
  const inner = { ...where, depth: where.depth + 1 };
  const {
    oneOf: _one,
    anyOf: _any,
    description: _description,
    title: _title,
    default: _default,
    ...base
  } = schema;
  const choose = h(
    'select.variant',
    props({ aria: { label: `Kind of ${options.name ?? 'value'}` } }),
    options.required ? '' : h('option', props({ value: '' }), 'not set'),
    ...variants.map((variant, at) =>
      h('option', props({ value: String(at) }), labelOf(nameOf(resolve(variant, where), at))),
    ),
  );
  const place = h('div');
  let field;
  const pick = () => {
    const variant = variants[Number(choose.value)];
    field =
      choose.value === '' || variant === undefined
        ? undefined
        : fieldFor({ ...base, ...resolve(variant, where) }, inner, {
            required: true,
            label: schema.title ?? options.name,
          });
    replace(place, field?.element);
  };
  choose.addEventListener('change', pick);
  pick();
  return {
    element: group('fieldset.variants', schema, options, 'one of', choose, place),
    read: (problem, path) => field?.read(problem, path),
    write(value) {
      if (value === undefined) return;
      const at = variants.findIndex((variant) => fits(resolve(variant, where), value));
      choose.value = String(Math.max(0, at));
      pick();
      field?.write(value);
    },
  };
}
