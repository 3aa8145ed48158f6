/** A link of a server: shows where it leads before it is opened. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { cut, revealed } from '../text.ts';
import { CopyButton, openUrl } from './bits.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

const MAX_URL_CHARS = 2_000;

export interface LinkLookProps {
  readonly url: string;
  readonly children: ComponentChildren;
}

export function LinkLook({ url, children }: LinkLookProps): JSX.Element {
  const [isShown, setShown] = useState(false);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  return (
    <>
      <button class="text-link" type="button" onClick={() => setShown(true)}>
        {children}
      </button>
      {isShown && (
        <Dialog label="Open a link" onClose={() => setShown(false)}>
          <h2>{isWeb ? `Open ${parsed.host}?` : 'This link is not a web address'}</h2>
          <p class="url">
            <code>{cut(revealed(url), MAX_URL_CHARS)}</code>
          </p>
          <div class="actions end">
            <Button kind="quiet" onPress={() => setShown(false)}>
              Close
            </Button>
            <CopyButton kind="" text={url} />
            {isWeb && (
              <Button
                kind="primary"
                onPress={() => {
                  openUrl(url);
                  setShown(false);
                }}
              >
                Open it
              </Button>
            )}
          </div>
        </Dialog>
      )}
    </>
  );
}
