/** Short notices at the edge of the page, announced to screen readers and removed after a delay or by their button. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const STAYS_MS = 6_000;
const MAX_SHOWN = 4;

export interface NoticeOptions {
  readonly kind?: string;
  readonly hint?: string | undefined;
  /** Notices about the same thing can be removed together. */
  readonly about?: string;
}

interface Shown {
  readonly id: number;
  readonly text: string;
  readonly kind: string;
  readonly hint: string | undefined;
  readonly about: string | undefined;
}

export class Notices {
  readonly shown = signal<readonly Shown[]>([]);
  #lastId = 0;

  /** Shows a notice; the same one that is still shown is replaced. */
  add(text: string, { kind = 'info', hint, about }: NoticeOptions = {}): void {
    this.#lastId += 1;
    const others = this.shown.value.filter((each) => each.text !== text || each.hint !== hint);
    this.shown.value = [...others, { id: this.#lastId, text, kind, hint, about }].slice(-MAX_SHOWN);
  }

  showError(error: unknown): void {
    const { message, hint } = error as { message?: string; hint?: string };
    this.add(message ?? 'The action failed', { kind: 'bad', hint });
  }

  removeAbout(about: string): void {
    if (this.shown.peek().some((each) => each.about === about))
      this.shown.value = this.shown.value.filter((each) => each.about !== about);
  }

  remove(id: number): void {
    this.shown.value = this.shown.value.filter((each) => each.id !== id);
  }
}

export function NoticeList({ notices }: { readonly notices: Notices }): JSX.Element {
  return (
    <div id="notices" role="status" aria-live="polite">
      {notices.shown.value.map((each) => (
        <Notice key={each.id} notice={each} onClose={() => notices.remove(each.id)} />
      ))}
    </div>
  );
}

function Notice(props: { readonly notice: Shown; readonly onClose: () => void }): JSX.Element {
  const { notice, onClose } = props;
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(onClose, STAYS_MS);
    return () => clearTimeout(timer);
  }, [isHeld]);
  return (
    <div
      class={`notice ${notice.kind}`}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
    >
      <p>{notice.text}</p>
      {notice.hint !== undefined && <p class="hint">{notice.hint}</p>}
      <button class="close" type="button" aria-label="Dismiss" onClick={onClose}>
        ×
      </button>
    </div>
  );
}
