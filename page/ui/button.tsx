/** Buttons: one that is busy while its action runs, and one that asks for confirmation in place. */

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface ButtonProps {
  readonly kind?: string;
  readonly title?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly type?: 'button' | 'submit';
  readonly label?: string;
  readonly onPress?: () => unknown;
  readonly children: ComponentChildren;
}

/** A button that is disabled and shown as busy while the promise of `onPress` is pending. */
export function Button(props: ButtonProps): JSX.Element {
  const { kind = '', title, disabled = false, type = 'button', label, onPress, children } = props;
  const [isWorking, setWorking] = useState(false);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const press = (): void => {
    const work = onPress?.();
    if (!(work instanceof Promise)) return;
    setWorking(true);
    const done = (): void => {
      if (isMounted.current) setWorking(false);
    };
    work.then(done, done);
  };
  return (
    <button
      class={`${kind}${isWorking ? ' working' : ''}`}
      type={type}
      title={title}
      aria-label={label}
      disabled={disabled || isWorking}
      onClick={onPress === undefined ? undefined : press}
    >
      {children}
    </button>
  );
}

export interface ConfirmProps {
  readonly label: string;
  readonly confirmLabel: string;
  readonly kind?: string;
  /** Shown next to the confirmation. */
  readonly about?: string;
  readonly onConfirm: () => unknown;
}

/** A button for actions that cannot be undone. The harmless button takes its place, so a double click confirms nothing. */
export function ConfirmButton(props: ConfirmProps): JSX.Element {
  const { label, confirmLabel, kind = '', about = '', onConfirm } = props;
  const [isAsking, setAsking] = useState(false);
  const container = useRef<HTMLSpanElement>(null);
  const wasAsking = useRef(false);
  useEffect(() => {
    if (isAsking || wasAsking.current) container.current?.querySelector('button')?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  return (
    <span class="removal" ref={container}>
      {isAsking ? (
        <>
          <Button key="keep" onPress={() => setAsking(false)}>
            Keep
          </Button>
          <Button
            key="confirm"
            kind="danger"
            onPress={async () => {
              await onConfirm();
              setAsking(false);
            }}
          >
            {confirmLabel}
          </Button>
          {about !== '' && <span class="hint">{about}</span>}
        </>
      ) : (
        <Button key="first" kind={kind} onPress={() => setAsking(true)}>
          {label}
        </Button>
      )}
    </span>
  );
}
