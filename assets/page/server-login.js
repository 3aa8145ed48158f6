/** A login from the button to its end: the address, the wait, the way for browsers elsewhere, and giving up. */

import { api, serverPath } from './api.js';
import { button, h, props, replace } from './dom.js';
import { failed } from './notices.js';
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
      openAddress(authorizationUrl);
    } catch (error) {
      failed(error);
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
        aria: { label: 'The address that the browser ended on' },
      }),
    );
    replace(
      this.element,
      h(
        'div.callout.busy',
        h(
          'p.waiting',
          h('span.spinner', props({ aria: { hidden: 'true' } })),
          'Waiting until you are logged in …',
        ),
        h(
          'p.hint',
          'A window of your browser has been opened. This goes on by itself when you are done there.',
        ),
        h(
          'div.actions',
          button('Open it again', () => openAddress(waiting.url)),
          button('Give up', () => this.giveUp(), { kind: 'quiet' }),
        ),
        h(
          'details',
          h('summary', 'The browser is on another machine'),
          h(
            'p.hint',
            'Log in there, and paste the address that it ended on, also when it says that the page cannot be reached.',
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

  async giveUp() {
    await api('DELETE', serverPath(this.server, '/auth')).catch(failed);
    store.logins.delete(this.server);
    changed('logins');
  }

  async finish(address) {
    const query = address.includes('?') ? address.slice(address.indexOf('?') + 1) : address;
    const answer = new URLSearchParams(query.split('#')[0]);
    const body = { code: answer.get('code') ?? '', state: answer.get('state') ?? '' };
    if (answer.has('error'))
      return failed(
        new Error(`The login was refused: ${answer.get('error_description') ?? answer.get('error')}.`),
      );
    if (body.code === '' || body.state === '')
      return failed({
        message: 'This is not the address that a login ends on: it has no code.',
        hint: 'Copy the whole address out of the browser after you logged in there.',
      });
    if (answer.has('iss')) body.iss = answer.get('iss');
    await api('POST', serverPath(this.server, '/auth/callback'), body).catch((error) =>
      failed(
        error.code === 'AUTH_FAILED'
          ? {
              message: 'This address does not belong to this login.',
              hint: 'Log in again, and paste the new address.',
            }
          : error,
      ),
    );
  }
}

/** Only ever a web address, in a window that knows nothing of this one. */
export function openAddress(address) {
  const { protocol } = URL.canParse(address) ? new URL(address) : {};
  if (protocol === 'https:' || protocol === 'http:') window.open(address, '_blank', 'noopener,noreferrer');
}
