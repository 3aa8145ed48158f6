/** A list at the left and one of its things at the right; on a narrow page one of the two at a time. */

import { h, props, replace } from './dom.js';
import { leaveFor } from './place.js';

/** `home`: the place of the list. */
export function panes({ head, list, home, empty }) {
  const detail = h('section.detail', props({ tabIndex: -1, aria: { label: 'Details' } }), h('p.none', empty));
  const back = h('button.back', props({ type: 'button', onclick: () => leaveFor(home) }), '‹ Back');
  const element = h('div.panes', h('div.master', head, list), detail);
  const shut = () => {
    if (!element.classList.contains('open')) return;
    element.classList.remove('open');
    list.focus?.();
  };
  return {
    element,
    detail,
    /** Shows the list where only one of the two has room. */
    shut,
    /** Shows something; `isNew` when it is another thing than before, and is to be read from its top. */
    show(content, isNew) {
      replace(detail, back, content);
      if (!isNew) return;
      detail.scrollTop = 0;
      element.classList.add('open');
    },
    clear() {
      replace(detail, h('p.none', empty));
      element.classList.remove('open');
    },
  };
}
