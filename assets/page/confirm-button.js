/** A button that asks for confirmation in place, for actions that cannot be undone. */

import { button, h, replace } from './dom.js';

export function confirmButton(label, confirmLabel, act, { kind = '', about = '' } = {}) {
  const container = h('span.removal');
  const confirmAction = button(confirmLabel, act, { kind: 'danger' });
  const cancel = button('Keep', () => {
    replace(container, first);
    first.focus();
  });
  const first = button(
    label,
    () => {
      // The harmless button takes the place of the first, so that a double click does not confirm.
      replace(container, cancel, confirmAction, about === '' ? '' : h('span.hint', about));
      cancel.focus();
    },
    { kind },
  );
  container.append(first);
  return container;
}
