/** The OAuth login of a server: opens the URL, waits, accepts a pasted redirect URL, and can be cancelled. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError, apiPath } from '../api.ts';
import { type App, useApp } from '../app.ts';
import { openUrl, Waiting } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

export async function beginLogin({ api, store, notices }: App, server: string): Promise<void> {
  try {
    const { authorizationUrl: url } = await api.send<{ authorizationUrl: string }>(
      'POST',
      apiPath('servers', server, 'auth'),
    );
    store.setLogin({ server, state: 'waiting', url });
    openUrl(url);
  } catch (error) {
    notices.showError(error);
  }
}

export function ServerLogin({ server }: { readonly server: string }): JSX.Element {
  const { api, store, notices } = useApp();
  const pasted = useSignal('');
  const url = store.logins.value.get(server)?.url;
  const cancel = async (): Promise<void> => {
    await api.send('DELETE', apiPath('servers', server, 'auth')).catch((error) => notices.showError(error));
    store.setLogin({ server, state: 'cancelled' });
  };
  const finish = async (): Promise<void> => {
    try {
      await api.send('POST', apiPath('servers', server, 'auth', 'callback'), redirectIn(pasted.value));
    } catch (error) {
      notices.showError(
        error instanceof ApiError && error.code === 'AUTH_FAILED'
          ? new ApiError(400, {
              message: 'This url belongs to a different login',
              hint: 'Log in again, then paste the new url.',
            })
          : error,
      );
    }
  };
  return (
    <div class="login" role="status">
      {url !== undefined && (
        <div class="callout busy">
          <Waiting>Waiting for your login …</Waiting>
          <p class="hint">A browser window was opened. This page continues when you have logged in there.</p>
          <div class="actions">
            <Button onPress={() => openUrl(url)}>Open it again</Button>
            <Button kind="quiet" onPress={cancel}>
              Give up
            </Button>
          </div>
          <details>
            <summary>The browser is on another machine</summary>
            <p class="hint">
              Log in there, then paste the url that it was redirected to, even if it shows that the page
              cannot be reached.
            </p>
            <div class="paste">
              <input
                type="text"
                placeholder="http://127.0.0.1:…/oauth/callback?code=…"
                aria-label="The url that the browser was redirected to"
                value={pasted.value}
                onInput={(event) => {
                  pasted.value = event.currentTarget.value;
                }}
              />
              <Button onPress={finish}>Finish</Button>
            </div>
          </details>
        </div>
      )}
    </div>
  );
}

/** Reads the answer of an authorization server from the URL that it redirected to. */
function redirectIn(text: string): object {
  const query = text.includes('?') ? text.slice(text.indexOf('?') + 1) : text;
  const params = new URLSearchParams(query.split('#')[0]);
  if (params.has('error'))
    throw new ApiError(400, {
      message: `The login was refused: ${params.get('error_description') ?? params.get('error')}.`,
    });
  const [code, state, iss] = [params.get('code'), params.get('state'), params.get('iss')];
  if (code === null || state === null)
    throw new ApiError(400, {
      message: 'This is not the redirect url of a login: it has no code',
      hint: 'Copy the whole url from the browser after you have logged in.',
    });
  return { code, state, ...(iss === null ? {} : { iss }) };
}
