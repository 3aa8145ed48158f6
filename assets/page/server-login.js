/** The OAuth login of a server: opens the URL, waits, accepts a pasted redirect URL, and can be cancelled. */

import { api, serverPath } from './api.js';
import { button, h, props, replace } from './dom.js';
import { showError } from './notices.js';
import { changed, store } from './store.js';

export class ServerLogin {
  constructor(server) {
    this.server = server;
    this.element = h('div.login', props({ role: 'status' }));
  }

  async begin() {
    try {
      const { authorizationUrl } = await api('POST', serverPath(this.server, '/auth'));
      store.logins.set(this.server, { server: this.server, state: 'waiting', url: authorizationUrl });
      changed('logins');
      openUrl(authorizationUrl);
    } catch (error) {
      showError(error);
    }
  }

  update() {
    const waiting = store.logins.get(this.server);
    if (waiting?.url === this.shown) return;
    this.shown = waiting?.url;
    if (waiting === undefined) {
      replace(this.element);
      return;
    }
    const pasted = h(
      'input',
      props({
        type: 'text',
        placeholder: 'http://127.0.0.1:…/oauth/callback?code=…',
        aria: { label: 'The url that the browser was redirected to' },
      }),
    );
    replace(
      this.element,
      h(
        'div.callout.busy',
        h('p.waiting', h('span.spinner', props({ aria: { hidden: 'true' } })), 'Waiting for your login …'),
        h('p.hint', 'A browser window was opened. This page continues when you have logged in there.'),
        h(
          'div.actions',
          button('Open it again', () => openUrl(waiting.url)),
          button('Give up', () => this.cancel(), { kind: 'quiet' }),
        ),
        h(
          'details',
          h('summary', 'The browser is on another machine'),
          h(
            'p.hint',
            'Log in there, then paste the url that it was redirected to, even if it shows that the page cannot be reached.',
          ),
          h(
            'div.paste',
            pasted,
            button('Finish', () => this.finish(pasted.value)),
          ),
        ),
      ),
    );
  }

  async cancel() {
    await api('DELETE', serverPath(this.server, '/auth')).catch(showError);
    store.logins.delete(this.server);
    changed('logins');
  }

  async finish(redirectUrl) {
    const query = redirectUrl.includes('?') ? redirectUrl.slice(redirectUrl.indexOf('?') + 1) : redirectUrl;
    const params = new URLSearchParams(query.split('#')[0]);
    const body = { code: params.get('code') ?? '', state: params.get('state') ?? '' };
    if (params.has('error'))
      return showError(
        new Error(`The login was refused: ${params.get('error_description') ?? params.get('error')}.`),
      );
    if (body.code === '' || body.state === '')
      return showError({
        message: 'This is not the redirect url of a login: it has no code',
        hint: 'Copy the whole url from the browser after you have logged in.',
      });
    if (params.has('iss')) body.iss = params.get('iss');
    await api('POST', serverPath(this.server, '/auth/callback'), body).catch((error) =>
      showError(
        error.code === 'AUTH_FAILED'
          ? {
              message: 'This url belongs to a different login',
              hint: 'Log in again, then paste the new url.',
            }
          : error,
      ),
    );
  }
}

/** Opens an http or https URL in a new window without opener and referrer; ignores other URLs. */
export function openUrl(url) {
  const { protocol } = URL.canParse(url) ? new URL(url) : {};
  if (protocol === 'https:' || protocol === 'http:') window.open(url, '_blank', 'noopener,noreferrer');
}
