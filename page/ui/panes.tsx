/** A list at the left and a detail at the right; a narrow page shows one of them at a time. */

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useApp } from '../app.ts';
import type { Place } from '../router.ts';

export interface PanesProps {
  readonly head: ComponentChildren;
  readonly list: ComponentChildren;
  /** The detail; `undefined` shows `empty`. */
  readonly detail: ComponentChildren;
  /** Identifies the detail: another one is scrolled to the top. */
  readonly detailKey: string | undefined;
  /** Whether the place in the URL is a detail, which a narrow page shows instead of the list. */
  readonly isOpen: boolean;
  readonly home: Place;
  readonly empty: string;
}

export function Panes(props: PanesProps): JSX.Element {
  const { head, list, detail, detailKey, isOpen, home, empty } = props;
  const { router } = useApp();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    section.current?.scrollTo(0, 0);
  }, [detailKey]);
  return (
    <div class={`panes${isOpen ? ' open' : ''}`}>
      <div class="master">
        {head}
        {list}
      </div>
      <section class="detail" tabIndex={-1} aria-label="Details" ref={section}>
        {detail === undefined ? (
          <p class="none">{empty}</p>
        ) : (
          <>
            <button class="back" type="button" onClick={() => router.backTo(home)}>
              ‹ Back
            </button>
            {detail}
          </>
        )}
      </section>
    </div>
  );
}

/** Moves the focus between the rows of a list with the arrow keys. */
export function moveInRows(event: KeyboardEvent, selector: string): void {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  const list = event.currentTarget as HTMLElement;
  if (step === undefined || (event.target as HTMLElement).closest(selector) === null) return;
  event.preventDefault();
  const rows = [...list.querySelectorAll<HTMLElement>(selector)];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}
