/** The form that asks for the token of the page. */

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Api } from './api.ts';

export interface GateProps {
  readonly api: Api;
  readonly isWrong: boolean;
}

export function Gate({ api, isWrong }: GateProps): JSX.Element {
  const token = useRef<HTMLInputElement>(null);
  useEffect(() => token.current?.focus(), []);
  return (
    <main>
      <form
        class="gate"
        onSubmit={(event) => {
          event.preventDefault();
          api.setToken(token.current?.value.trim() ?? '');
          location.reload();
        }}
      >
        <h1>Plugboard</h1>
        <p>{isWrong ? 'Wrong token.' : 'This page needs its token.'}</p>
        <p class="hint">
          <code>plugboard dashboard</code> opens it with the right one, which is also in the file{' '}
          <code>manage-token</code> of your Plugboard folder. Tokens of agents, and the token of version
          0.1.0, do not open this page.
        </p>
        <input class="mono" type="password" autocomplete="off" required aria-label="Token" ref={token} />
        <div class="actions">
          <button class="primary" type="submit">
            Open
          </button>
        </div>
      </form>
    </main>
  );
}
