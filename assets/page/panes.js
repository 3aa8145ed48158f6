/** A list at the left and a detail at the right; a narrow page shows one of them at a time. */

import { h, props, replace } from './dom.js';
import { backTo } from './place.js';

/** Creates both panes; `home` is the place of the list, `empty` the text of an empty detail. */
export function panes({ head, list, home, empty }) {
  const detail = h('section.detail', props({ tabIndex: -1, aria: { label: 'Details' } }), h('p.none', empty));
  const back = h('button.back', props({ type: 'button', onclick: () => backTo(home) }), '‹ Back');
  const element = h('div.panes', h('div.master', head, list), detail);
  const showList = () => {
    if (!element.classList.contains('open')) return;
    element.classList.remove('open');
    list.focus?.();
  };
  return {
    element,
    detail,
    /** Returns to the list if only one pane fits. */
    showList,
    /** Shows a detail; `isNew` scrolls it to the top, and opens it if only one pane fits. */
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
