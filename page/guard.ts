/**
 * Checks every element before it is rendered: text is cleaned, and only properties of a closed list are set. A value of
 * a server can therefore not become markup, a style, an event handler or an address, whatever component it reaches.
 */

import { options, type VNode } from 'preact';
import { asText, plain } from './text.ts';

type Check = (value: unknown, name: string) => unknown;

const DATA_URL = /^data:(?:image|audio)\/[\w.+-]{1,40};base64,[A-Za-z0-9+/\s]*={0,2}\s*$/;
const PAGE_ICON = 'icon.svg';

const cleaned: Check = (value) => (value === undefined || value === null ? undefined : plain(value));
const flag: Check = (value) => value === true;
const number: Check = (value) => (value === undefined ? undefined : Number(value));
const matching =
  (pattern: RegExp): Check =>
  (value, name) => {
    if (value === undefined || value === null) return undefined;
    if (!pattern.test(String(value))) throw new Error(`${name} has a value that the page does not set`);
    return value;
  };
const address =
  (pattern: RegExp): Check =>
  (value, name) => {
    if (typeof value !== 'string' || !(pattern.test(value) || value === PAGE_ICON))
      throw new Error(`${name} has an address that is not allowed`);
    return value;
  };
const words = matching(/^[a-z][\w -]*$/i);
const digits = matching(/^-?[\d. -]*$/);
const length = /^-?\d+(?:\.\d+)?(?:e-\d+)?(?:px|%)?$/;

/** Sizes and positions only; values are applied through the CSSOM, never as an attribute. */
const style: Check = (value) => {
  if (typeof value !== 'object' || value === null) throw new Error('style must be an object');
  for (const [name, each] of Object.entries(value)) {
    if (!/^(?:top|width|height)$/.test(name) || !length.test(String(each)))
      throw new Error(`${name} is not a style that the page sets`);
  }
  return value;
};

/** Every property of an element that the page sets. Excludes markup, frames, forms and names on purpose. */
const CHECKS: Readonly<Record<string, Check>> = {
  alt: cleaned,
  autocomplete: words,
  autoFocus: flag,
  checked: flag,
  class: matching(/^[\w -]*$/),
  colSpan: number,
  controls: flag,
  d: matching(/^[\dMLHVCSAZmlhvcsaz ,.-]*$/),
  dateTime: cleaned,
  disabled: flag,
  for: matching(/^[a-z][\w-]*$/),
  height: digits,
  hidden: flag,
  href: address(/^#\/[\w%!'()*.~/-]*$/),
  id: matching(/^[a-z][\w-]*$/),
  indeterminate: flag,
  inputMode: words,
  list: matching(/^[a-z][\w-]*$/),
  max: cleaned,
  min: cleaned,
  open: flag,
  placeholder: cleaned,
  preserveAspectRatio: words,
  readOnly: flag,
  required: flag,
  role: words,
  rows: number,
  rx: digits,
  selected: flag,
  spellcheck: flag,
  src: address(DATA_URL),
  step: words,
  style,
  tabIndex: number,
  title: cleaned,
  type: words,
  // Not cleaned: it is compared with what was typed or selected, and is never markup.
  value: (value) => (value === undefined ? undefined : asText(value)),
  viewBox: digits,
  width: digits,
  x: digits,
  x1: digits,
  x2: digits,
  y: digits,
  y1: digits,
  y2: digits,
};

function checkOf(name: string): Check {
  if (Object.hasOwn(CHECKS, name)) return CHECKS[name] as Check;
  if (/^(?:aria|data)-[a-z]+$/.test(name)) return cleaned;
  if (/^on[A-Z][A-Za-z]+$/.test(name)) return listener;
  throw new Error(`${name} is not a property that the page sets`);
}

const listener: Check = (value, name) => {
  if (value !== undefined && typeof value !== 'function') throw new Error(`${name} must be a function`);
  return value;
};

/** Installs the checks for everything that is rendered from now on. */
export function installGuard(): void {
  const next = options.vnode;
  options.vnode = (vnode: VNode) => {
    const { type } = vnode;
    if (typeof type === 'string') checkElement(vnode.props as Record<string, unknown>);
    // The type of a text is null in a production build; its props are the text.
    else if (type === null) {
      const text = vnode as unknown as { props: unknown };
      text.props = plain(text.props);
    }
    next?.(vnode);
  };
}

function checkElement(props: Record<string, unknown>): void {
  for (const name in props) {
    if (name === 'children') continue;
    props[name] = checkOf(name)(props[name], name);
  }
}
