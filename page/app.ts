/** The parts of the page that every component can reach. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from './api.ts';
import type { Drafts } from './drafts.ts';
import type { KeptState } from './kept.ts';
import type { Notices } from './notices.tsx';
import type { Router } from './router.ts';
import type { Settings } from './settings-store.ts';
import type { Store } from './store.ts';
import type { ToolTries } from './tool-tries.ts';

export interface App {
  readonly api: Api;
  readonly store: Store;
  readonly router: Router;
  readonly notices: Notices;
  readonly drafts: Drafts;
  readonly settings: Settings;
  readonly tries: ToolTries;
  readonly kept: KeptState;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('The component is rendered outside the page');
  return app;
}
