/** Entry point of the page: checks the token, then renders the shell and follows events. */

import { render } from 'preact';
import { Announcer } from './announce.ts';
import { Api, ApiError } from './api.ts';
import { type App, AppContext } from './app.ts';
import { Drafts } from './drafts.ts';
import { Gate } from './gate.tsx';
import { installGuard } from './guard.ts';
import { Notices } from './notices.tsx';
import { Router } from './router.ts';
import { Settings } from './settings-store.ts';
import { Shell } from './shell.tsx';
import { Store } from './store.ts';
import { ToolTries } from './tool-tries.ts';

installGuard();
const api = new Api();
const settings = new Settings();

function askForToken(isWrong: boolean): void {
  render(null, document.body);
  document.body.classList.add('gated');
  render(<Gate api={api} isWrong={isWrong} />, document.body);
}

async function start(): Promise<void> {
  if (api.takeToken() === undefined) return askForToken(false);
  const [router, notices, drafts] = [new Router(), new Notices(), new Drafts()];
  const announcer = new Announcer({ notices, router, settings });
  const store = new Store(api, {
    announce: (announcement) => announcer.announce(announcement),
    refused: () => askForToken(true),
  });
  const app: App = {
    api,
    store,
    router,
    notices,
    drafts,
    settings,
    tries: new ToolTries({ api, drafts, calls: store.calls }),
    kept: new Map(),
  };
  // A URL with a token was pasted into this window.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#token=') && api.takeToken() !== undefined) location.reload();
  });
  router.start();
  render(
    <AppContext.Provider value={app}>
      <Shell />
    </AppContext.Provider>,
    document.body,
  );
  try {
    // Checks the token and loads the data of the first view.
    await store.loadServers();
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 429)) return askForToken(true);
    notices.showError(error);
  }
  store.follow();
}

void start();
