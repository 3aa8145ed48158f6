/** The log of one server, live: stops moving while it is read, and can be copied and saved. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { EventStream } from '../event-stream.ts';
import { CopyButton, ErrorCallout, saveFile } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

const FIRST_LINES = 200;
const MAX_LINES = 2_000;
/** A view that is scrolled up by more than this is being read. */
const AT_END_PX = 24;

interface LogLine {
  readonly time: string;
  readonly kind: string;
  readonly message: string;
}

interface Kept extends LogLine {
  readonly id: number;
}

export function ServerLog({ name }: { readonly name: string }): JSX.Element {
  const { api } = useApp();
  const lines = useSignal<readonly Kept[]>([]);
  const error = useSignal<unknown>(undefined);
  /** Lines that came while the log was read. */
  const unread = useSignal(0);
  const isLoaded = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const lastId = useRef(0);
  /** Measured before new lines are rendered: the event of a scroll may come after them. */
  const measure = (): void => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END_PX;
  };
  const add = (more: readonly LogLine[]): void => {
    measure();
    const kept = more.map((line) => {
      lastId.current += 1;
      return { ...line, id: lastId.current };
    });
    lines.value = [...lines.value, ...kept].slice(-MAX_LINES);
    if (!isAtEnd.current) unread.value += more.length;
  };
  useEffect(() => {
    let stream: EventStream | undefined;
    let isClosed = false;
    const path = apiPath('servers', name, 'log');
    api.get<{ lines: readonly LogLine[]; cursor?: string }>(`${path}?lines=${FIRST_LINES}`).then(
      ({ lines: first, cursor }) => {
        if (isClosed) return;
        isLoaded.value = true;
        add(first);
        stream = new EventStream(
          api,
          {
            connected: () => {},
            missed: () => {},
            refused: () => {},
            event: (_, line) => add([line as LogLine]),
          },
          { path: `${path}/stream`, after: cursor },
        );
        void stream.follow();
      },
      (failure) => {
        error.value = failure;
      },
    );
    return () => {
      isClosed = true;
      stream?.close();
    };
  }, [name]);
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
  }, [lines.value]);
  const toEnd = (): void => {
    unread.value = 0;
    isAtEnd.current = true;
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  };
  const text = (): string =>
    lines.value.map(({ time, kind, message }) => `${time} ${kind} ${message}`).join('\n');
  return (
    <section class="server-log">
      <h3>
        Log
        <span class="tabs">
          <CopyButton text={text} />
          <Button kind="small" onPress={() => saveFile(`${name}.log`, text(), 'text/plain')}>
            Save
          </Button>
        </span>
      </h3>
      <ErrorCallout error={error.value} />
      <div
        class="log-lines"
        ref={box}
        tabIndex={0}
        role="log"
        aria-label={`Log of ${name}`}
        onScroll={() => {
          measure();
          if (isAtEnd.current) unread.value = 0;
        }}
      >
        {lines.value.map(({ id, time, kind, message }) => (
          <div key={id} class="log-line" data-kind={kind}>
            <span class="log-time">{time.slice(11, 19)}</span>
            <span class="log-kind">{kind}</span>
            <span class="log-text">{message}</span>
          </div>
        ))}
        {isLoaded.value && lines.value.length === 0 && <p class="none">Nothing logged yet.</p>}
      </div>
      {unread.value > 0 && (
        <div class="actions">
          <Button kind="small" onPress={toEnd}>
            {`Paused: ${unread.value} new lines`}
          </Button>
        </div>
      )}
    </section>
  );
}
