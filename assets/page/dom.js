/**
 * Creates elements. Text is always set as text, and properties are only set through `props`, which only this page's
 * code calls: a server's value cannot become markup or a property, whatever its type.
 */

import { replaceUnseen, withoutHidden } from './hidden-text.js';

/** Returns a value as text without hidden characters, as defined in `src/policy/hidden-text.ts`. */
export function plain(value) {
  return withoutHidden(asText(value));
}

/** Returns a value as text with hidden characters escaped, for values that a person has to judge. */
export function revealed(value) {
  return replaceUnseen(asText(value), (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

/** Converts a value to text; objects become JSON, because `String()` would use members that a server sent. */
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

/** Only created by `props`: parsed JSON cannot contain an instance. */
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

/** Wraps properties of an element, to be passed to `h` as a child; `SETTERS` lists the allowed ones. */
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
  if (typeof value !== 'function') throw new Error(`${name} must be a function`);
  element.addEventListener(name.slice(2), value);
};
/** Sets a URL attribute; throws unless it matches, because it decides what is loaded or where a click leads. */
const asAddress = (pattern) => (element, value, name) => {
  if (typeof value !== 'string' || !pattern.test(value))
    throw new Error(`${name} has an address that is not allowed`);
  element.setAttribute(name, value);
};
const prefixed = (prefix) => (element, values) => {
  for (const [name, value] of Object.entries(values)) {
    if (!/^[a-z]+$/.test(name)) throw new Error(`${prefix}${name} is not an attribute that the page sets`);
    element.setAttribute(`${prefix}${name}`, plain(value));
  }
};

/** Every property that `props` can set. Excludes style, markup, frames, names and ids on purpose. */
const SETTERS = {
  alt: asString,
  aria: prefixed('aria-'),
  autocomplete: asString,
  controls: asFlag,
  data: prefixed('data-'),
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
  // Not cleaned: it is compared with the selected value and never shown.
  value: (element, value) => {
    element.value = asText(value);
  },
};

/**
 * Creates an element: `h('p.note', props({ title: 'x' }), 'text', child)`. Children that are not nodes become text,
 * including objects.
 */
export function h(name, ...children) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag), classes, children);
}

/** Creates an SVG element; its attributes must come from this page. */
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

/** Creates a button that is disabled and shown as busy while the promise of `onPress` is pending. */
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
