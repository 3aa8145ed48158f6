/** A list with keyboard navigation that renders only visible rows; all rows have the same height. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

const OVERSCAN_ROWS = 6;
const PAGE_ROWS = 10;

export interface VirtualListProps<Item> {
  readonly label: string;
  readonly rowHeight: number;
  readonly rowClass?: string;
  readonly length: number;
  readonly itemAt: (at: number) => Item;
  readonly keyOf: (item: Item) => string;
  readonly render: (item: Item) => ComponentChildren;
  readonly isSelected?: (item: Item) => boolean;
  readonly onOpen?: (item: Item) => void;
  /** Called when the last rows come into view. */
  readonly onEnd?: (() => void) | undefined;
  readonly empty: string;
  /** Index of the row that the keyboard is at; −1 for none. */
  readonly active: Signal<number>;
}

export function VirtualList<Item>(props: VirtualListProps<Item>): JSX.Element {
  const { label, rowHeight, rowClass = '', length, itemAt, keyOf, render, active } = props;
  const { isSelected = () => false, onOpen, onEnd, empty } = props;
  const element = useRef<HTMLDivElement>(null);
  const id = `list-${useId()}`;
  const top = useSignal(0);
  const height = useSignal(800);
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null) return undefined;
    const measure = (): void => {
      height.value = list.clientHeight;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top.value / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(length, Math.ceil((top.value + height.value) / rowHeight) + OVERSCAN_ROWS);
  useLayoutEffect(() => {
    if (length > 0 && last === length) onEnd?.();
  });

  const move = (at: number): void => {
    const list = element.current;
    if (length === 0 || list === null) return;
    active.value = at;
    if (at * rowHeight < list.scrollTop) list.scrollTop = at * rowHeight;
    else if ((at + 1) * rowHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = (at + 1) * rowHeight - list.clientHeight;
  };
  const open = (at: number): void => {
    if (at < 0 || at >= length) return;
    active.value = at;
    onOpen?.(itemAt(at));
  };
  const key = (event: KeyboardEvent): void => {
    const step = stepOf(event.key, length);
    if (step !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      move(Math.max(0, Math.min(length - 1, active.value + step)));
    } else if (event.key === 'Enter') open(active.value);
  };
  const focus = (): void => {
    if (active.value < 0 && element.current?.matches(':focus-visible')) move(0);
  };

  const rows: JSX.Element[] = [];
  for (let at = first; at < last; at += 1) {
    const item = itemAt(at);
    rows.push(
      <div
        key={keyOf(item)}
        class={`row ${rowClass}${at === active.value ? ' active' : ''}`}
        role="option"
        id={`${id}-${at}`}
        data-at={String(at)}
        aria-selected={isSelected(item)}
        style={{ top: `${at * rowHeight}px`, height: `${rowHeight}px` }}
        onClick={() => open(at)}
      >
        {render(item)}
      </div>,
    );
  }
  const isEmpty = length === 0;
  return (
    <div
      class="list"
      ref={element}
      tabIndex={0}
      data-focus="view"
      role={isEmpty ? 'region' : 'listbox'}
      aria-label={label}
      aria-activedescendant={
        !isEmpty && active.value >= first && active.value < last ? `${id}-${active.value}` : undefined
      }
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
      onKeyDown={key}
      onFocus={focus}
    >
      {isEmpty ? (
        <p class="none">{empty}</p>
      ) : (
        <div class="space" role="presentation" style={{ height: `${length * rowHeight}px` }}>
          {rows}
        </div>
      )}
    </div>
  );
}

function stepOf(key: string, length: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return 1;
    case 'ArrowUp':
    case 'k':
      return -1;
    case 'PageDown':
      return PAGE_ROWS;
    case 'PageUp':
      return -PAGE_ROWS;
    case 'Home':
      return -length;
    case 'End':
      return length;
    default:
      return undefined;
  }
}
