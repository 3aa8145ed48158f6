/** Renders text of a server: attributed, clipped to its frame and limited in length. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { cut, plain } from '../text.ts';

const MAX_QUOTED_CHARS = 2_000;

export interface BoundedProps {
  readonly text: unknown;
  readonly as?: 'div' | 'p' | 'pre' | 'span' | 'code';
  readonly class?: string;
  readonly max?: number;
  readonly clean?: (value: unknown) => string;
}

/** Renders a text; a longer one than `max` is cut, with a button that shows all of it. */
export function Bounded(props: BoundedProps): JSX.Element {
  const { text, as: Element = 'div', class: name = '', max = MAX_QUOTED_CHARS, clean = plain } = props;
  const [isWhole, setWhole] = useState(false);
  const whole = clean(text);
  if (whole.length <= max) return <Element class={name}>{whole}</Element>;
  return (
    <div class="bounded">
      <Element class={name}>{isWhole ? whole : cut(whole, max)}</Element>
      {!isWhole && (
        <button class="link show-all" type="button" onClick={() => setWhole(true)}>
          {`Show all ${whole.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  );
}

export interface QuotationProps {
  readonly text: unknown;
  readonly by: string;
  readonly what?: string;
}

/** Renders a quotation with its source above it. */
export function Quotation({ text, by, what = 'Text' }: QuotationProps): JSX.Element {
  return (
    <figure class="said">
      <figcaption>{`${what} of ${by}`}</figcaption>
      <Bounded class="said-text about" text={text} />
    </figure>
  );
}
