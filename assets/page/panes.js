/** A list at the left and one of its things at the right; on a narrow page one of the two at a time. */

import { h, props, replace } from './dom.js';

export function panes({ head, list, empty }) {
  const detail = h('section.detail', props({ tabIndex: -1, aria: { label: 'Details' } }), h('p.none', empty));
  const back = h('button.back', props({ type: 'button' }), '‹ Back');
  const element = h('div.panes', h('div.master', head, list), detail);
  const close = () => {
    element.classList.remove('open');
    list.focus?.();
  };
  back.addEventListener('click', close);
  return {
    element,
    detail,
    close,
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
