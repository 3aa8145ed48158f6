/** Making elements. Text is only ever set as text: nothing that a server says can become markup. */

/** Escape sequences as a whole, then everything that shows nothing or changes how its neighbours are shown. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[\x1b\x9b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b/g;
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are listed on purpose
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** What somebody else wrote, fit to be shown. */
export function plain(text) {
  return String(text).replace(/\r\n?/g, '\n').replace(ESCAPES, '').replace(INVISIBLE, '');
}

/**
 * An element: `h('p.note', { title: 'x' }, 'text', child)`. Members of the second argument are properties; `on…` are
 * listeners, `aria` and `data` are attributes.
 */
export function h(name, ...rest) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag), classes, rest);
}

/** The same for a drawing. */
export function svg(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return fill(element, classes, children);
}

function fill(element, classes, [first, ...others]) {
  if (classes.length > 0) element.classList.add(...classes);
  const isOptions =
    typeof first === 'object' && first !== null && !Array.isArray(first) && !(first instanceof Node);
  if (isOptions) setOptions(element, first);
  append(element, isOptions ? others : [first, ...others]);
  return element;
}

function setOptions(element, options) {
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (key === 'aria')
      for (const [name, text] of Object.entries(value)) element.setAttribute(`aria-${name}`, text);
    else if (key === 'data') Object.assign(element.dataset, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'role' || key === 'for') element.setAttribute(key, value);
    else element[key] = value;
  }
}

function append(element, children) {
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false || child === '') continue;
    element.append(child instanceof Node ? child : plain(child));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** A button; one that works says so until it is done, and cannot be pressed twice. */
export function button(label, onPress, options = {}) {
  const { kind = '', title, disabled } = options;
  const element = h(`button${kind === '' ? '' : `.${kind}`}`, { type: 'button', title, disabled }, label);
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
