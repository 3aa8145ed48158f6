/** Renders text of a server: attributed, clipped to its frame and limited in length. */

import { h, plain, props } from './dom.js';

export const MAX_QUOTED_CHARS = 2_000;

/** Renders a quotation with its source above it. */
export function quotation(text, { by, what = 'Text' }) {
  return h('figure.said', h('figcaption', `${what} of ${by}`), bounded('div.said-text.about', text));
}

/** Renders a text; a longer one than `max` is cut, with a button that shows all of it. */
export function bounded(name, text, { max = MAX_QUOTED_CHARS, clean = plain } = {}) {
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

/** Truncates a text without splitting a surrogate pair. */
export function cut(text, max) {
  return text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')} …`;
}
