/** Short notices at the edge of the page, announced to screen readers and removed after a delay or by their button. */

import { h, props } from './dom.js';

const STAYS_MS = 6_000;
const MAX_SHOWN = 4;

export function notice(text, { kind = 'info', hint } = {}) {
  const box = document.getElementById('notices');
  // Replaces the same notice if it is still shown.
  for (const shown of [...box.children])
    if (shown.dataset.text === JSON.stringify([text, hint])) shown.remove();
  const close = () => element.remove();
  const element = h(
    `div.notice.${kind}`,
    h('p', text),
    hint === undefined ? '' : h('p.hint', hint),
    h('button.close', props({ type: 'button', aria: { label: 'Dismiss' }, onclick: close }), '×'),
  );
  element.dataset.text = JSON.stringify([text, hint]);
  box.append(element);
  while (box.childElementCount > MAX_SHOWN) box.firstElementChild.remove();
  let timer = setTimeout(close, STAYS_MS);
  element.addEventListener('mouseenter', () => clearTimeout(timer));
  element.addEventListener('mouseleave', () => {
    timer = setTimeout(close, STAYS_MS);
  });
}

/** Shows an error as a notice. */
export function showError(error) {
  notice(error.message, { kind: 'bad', hint: error.hint });
}
