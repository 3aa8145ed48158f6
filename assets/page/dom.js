/**
 * Making elements. Text is only ever set as text, and properties only come from `props`, which only this page's own code
 * calls: no value of a server can become markup or a property, whatever its type is.
 */

import { replaceUnseen, withoutHidden } from './hidden-text.js';

/** Text of someone else, fit to be shown, by the same definition of hidden text as everywhere. */
export function plain(value) {
  return withoutHidden(asText(value));
}

/** The same with every unseen character written out, for values that a person decides on. */
export function revealed(value) {
  return replaceUnseen(asText(value), (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

/** Any value as text; `String()` would call members that a server can choose. */
function asText(value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null ? '' : String(value);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '(a value that cannot be shown)';
  }
}

/** Made by `props` only: JSON has no instances. */
class Props {
  #members;

  constructor(members) {
    this.#members = members;
  }

  applyTo(element) {
    for (const [name, value] of Object.entries(this.#members)) {
      if (value === undefined) continue;
      const set = Object.hasOwn(SETTERS, name) ? SETTERS[name] : undefined;
      if (set === undefined) throw new Error(`${name} is not a property that the page sets`);
      set(element, value, name);
    }
  }
}

/** The properties of an element, as the first child of `h`; see `SETTERS` for which there are. */
export function props(members) {
  return new Props(members);
}

const asString = (element, value, name) => {
  element[name] = plain(value);
};
const asFlag = (element, value, name) => {
  element[name] = value === true;
};
const asNumber = (element, value, name) => {
  element[name] = Number(value);
};
const asAttribute = (element, value, name) => element.setAttribute(name, plain(value));
const asListener = (element, value, name) => {
  if (typeof value !== 'function') throw new Error(`${name} has to be a function`);
  element.addEventListener(name.slice(2), value);
};
/** Only what the pattern knows: an address decides what is loaded or where a click leads. */
const asAddress = (pattern) => (element, value, name) => {
  if (typeof value !== 'string' || !pattern.test(value))
    throw new Error(`${name} has an address that is not allowed`);
  element.setAttribute(name, value);
};
const each = (prefix) => (element, values) => {
  for (const [name, value] of Object.entries(values)) {
    if (!/^[a-z]+$/.test(name)) throw new Error(`${prefix}${name} is not an attribute that the page sets`);
    element.setAttribute(`${prefix}${name}`, plain(value));
  }
};

/** Every property that this page sets. Style, markup, frames, names and ids of servers are not among them. */
const SETTERS = {
  alt: asString,
  aria: each('aria-'),
  autocomplete: asString,
  controls: asFlag,
  data: each('data-'),
  disabled: asFlag,
  for: asAttribute,
  href: asAddress(/^#[a-z]+$/),
  inputMode: asString,
  method: asString,
  onclick: asListener,
  onkeydown: asListener,
  onscroll: asListener,
  open: asFlag,
  placeholder: asString,
  required: asFlag,
  role: asAttribute,
  rows: asNumber,
  spellcheck: asFlag,
  src: asAddress(/^data:(?:image|audio)\/[\w.+-]{1,40};base64,[A-Za-z0-9+/\s]*={0,2}\s*$/),
  tabIndex: asNumber,
  title: asString,
  type: asString,
  // Exact: it is compared with what was chosen, and never shown.
  value: (element, value) => {
    element.value = asText(value);
  },
};

/**
 * An element: `h('p.note', props({ title: 'x' }), 'text', child)`. Children are elements; everything else becomes text,
 * objects too.
 */
export function h(name, ...children) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag), classes, children);
}

/** The same for a drawing, whose attributes are numbers and texts of this page. */
export function svg(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, plain(value));
  return fill(element, classes, children);
}

function fill(element, classes, children) {
  if (classes.length > 0) element.classList.add(...classes);
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false || child === '') continue;
    if (child instanceof Props) child.applyTo(element);
    else element.append(child instanceof Node ? child : plain(child));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** A button; one that works says so until it is done, and cannot be pressed twice. */
export function button(label, onPress, options = {}) {
  const { kind = '', title, disabled } = options;
  const element = h(
    `button${kind === '' ? '' : `.${kind}`}`,
    props({ type: 'button', title, disabled }),
    label,
  );
  element.addEventListener('click', async () => {
    const work = onPress(element);
    if (!(work instanceof Promise)) return;
    element.disabled = true;
    element.classList.add('working');
    await work.finally(() => {
      element.disabled = false;
      element.classList.remove('working');
    });
  });
  return element;
}

export function count(number) {
  if (number < 1_000) return String(number);
  const [value, unit] = number < 1_000_000 ? [number / 1_000, 'k'] : [number / 1_000_000, 'M'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

export function duration(ms) {
  if (ms === undefined) return '';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}
