/** A list with keyboard navigation that renders only visible rows; all rows have the same height. */

import { h, props } from './dom.js';

const OVERSCAN_ROWS = 8;

export class VirtualList {
  /**
   * `render(item, row)` fills a row, `keyOf(item)` identifies the item, and a row is rendered again if
   * `fingerprintOf(item)` changes; `onOpen(item)` is called for a click or Enter.
   */
  constructor({ label, rowHeight, render, keyOf, fingerprintOf, onOpen, empty }) {
    this.rowHeight = rowHeight;
    this.render = render;
    this.keyOf = keyOf;
    this.fingerprintOf = fingerprintOf;
    this.onOpen = onOpen;
    this.empty = empty;
    this.items = [];
    this.length = 0;
    this.rows = new Map();
    this.spare = [];
    this.active = -1;
    this.space = h('div.space', props({ role: 'presentation' }));
    this.emptyNotice = h('p.none');
    this.element = h(
      'div.list',
      props({
        tabIndex: 0,
        role: 'listbox',
        aria: { label },
        onscroll: () => this.schedule(),
        onkeydown: (event) => this.key(event),
      }),
      this.emptyNotice,
      this.space,
    );
    this.space.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row !== null) this.open(Number(row.dataset.at));
    });
    this.element.addEventListener('focus', () => {
      if (this.active < 0 && this.element.matches(':focus-visible')) this.move(0);
    });
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Shows `length` items; `itemAt(index)` returns an item, `isSelected(item)` whether it is selected. */
  show(length, itemAt, isSelected = () => false) {
    this.length = length;
    this.itemAt = itemAt;
    this.isSelected = isSelected;
    this.active = Math.min(this.active, length - 1);
    this.space.style.height = `${length * this.rowHeight}px`;
    this.emptyNotice.textContent = length === 0 ? this.empty() : '';
    this.emptyNotice.hidden = length > 0;
    this.draw();
  }

  /** Sets the height of all rows; applied by the next `show`. */
  setRowHeight(height) {
    if (this.rowHeight === height) return;
    this.rowHeight = height;
    for (const row of [...this.rows.values(), ...this.spare]) delete row.dataset.at;
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  /** Draws the visible rows; the row of an item that moved is moved, and only rendered again if it changed. */
  draw() {
    if (this.itemAt === undefined) return;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - OVERSCAN_ROWS);
    const last = Math.min(
      this.length,
      Math.ceil((scrollTop + clientHeight) / this.rowHeight) + OVERSCAN_ROWS,
    );
    const visible = new Map();
    for (let at = first; at < last; at += 1) {
      const item = this.itemAt(at);
      visible.set(this.keyOf(item), { at, item });
    }
    for (const [key, row] of this.rows) {
      if (visible.has(key)) continue;
      row.hidden = true;
      row.replaceChildren();
      this.rows.delete(key);
      this.spare.push(row);
    }
    for (const [key, { at, item }] of visible) this.place(this.rows.get(key) ?? this.takeRow(key), at, item);
  }

  place(row, at, item) {
    const fingerprint = this.fingerprintOf(item);
    if (row.fingerprint !== fingerprint) {
      row.fingerprint = fingerprint;
      try {
        this.render(item, row);
      } catch (error) {
        row.textContent = 'This row could not be shown.';
        console.error(error);
      }
    }
    if (row.dataset.at !== String(at)) {
      row.dataset.at = at;
      row.id = `${this.id()}-${at}`;
      row.style.transform = `translateY(${at * this.rowHeight}px)`;
      row.style.height = `${this.rowHeight}px`;
      row.setAttribute('aria-posinset', at + 1);
    }
    row.setAttribute('aria-setsize', this.length);
    row.setAttribute('aria-selected', String(this.isSelected(item)));
    row.classList.toggle('active', at === this.active);
  }

  takeRow(key) {
    const row = this.spare.pop() ?? h('div.row', props({ role: 'option' }));
    if (!row.isConnected) this.space.append(row);
    row.hidden = false;
    row.fingerprint = undefined;
    this.rows.set(key, row);
    return row;
  }

  id() {
    this.ownId ??= `list-${Math.random().toString(36).slice(2, 8)}`;
    return this.ownId;
  }

  key(event) {
    const steps = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -this.length,
      End: this.length,
    };
    const step = steps[event.key];
    if (step !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.move(Math.max(0, Math.min(this.length - 1, this.active + step)));
    } else if (event.key === 'Enter' && this.active >= 0) this.open(this.active);
  }

  move(at) {
    if (this.length === 0) return;
    this.active = at;
    const top = at * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.draw();
    this.element.setAttribute('aria-activedescendant', `${this.id()}-${at}`);
  }

  open(at) {
    this.active = at;
    const item = this.itemAt(at);
    if (item !== undefined) this.onOpen?.(item);
    this.draw();
  }
}
