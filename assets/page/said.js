/** Text of a server among text of the page: attributed, in a frame that nothing leaves, and no longer than it may be. */

import { h, plain, props } from './dom.js';

export const MAX_SAID_CHARS = 2_000;

/** A quotation with its source above it. */
export function said(text, { by, what = 'Text' }) {
  return h('figure.said', h('figcaption', `${what} of ${by}`), bounded('div.said-text.about', text));
}

/** An element with the beginning of a text, and a button that shows all of it. */
export function bounded(name, text, { max = MAX_SAID_CHARS, clean = plain } = {}) {
  const whole = clean(text);
  const shown = h(name, cut(whole, max));
  if (whole.length <= max) return shown;
  const all = h(
    'button.link.show-all',
    props({
      type: 'button',
      onclick: () => {
        shown.textContent = whole;
        all.remove();
      },
    }),
    `Show all ${whole.length.toLocaleString('en')} characters`,
  );
  return h('div.bounded', shown, all);
}

/** Cut between characters, not inside one. */
export function cut(text, max) {
  return text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')} …`;
}
