/** Classifies queries and tools by a few kinds of action. */

import { stem } from './stem.ts';

const ACTIONS = {
  create:
    'create add new make insert generate build provision register append initialize init compose draft open put post',
  delete: 'delete remove destroy drop erase purge wipe clear discard uninstall unlink detach trash',
  update:
    'update edit modify change set patch rename alter adjust configure replace assign move upsert save write enable disable reset',
  get: 'get fetch retrieve read show view describe detail display inspect load check info status obtain whoami',
  list: 'list enumerate browse all',
  search: 'search find query lookup locate discover filter ask grep',
  run: 'run execute start launch trigger invoke restart call evaluate perform deploy submit apply',
  stop: 'stop cancel abort halt terminate kill close pause suspend shutdown dismiss',
  send: 'send reply notify publish broadcast message share forward comment upload push',
  take: 'download export pull backup copy clone duplicate fork extract dump archive capture record screenshot',
  analyze:
    'analyze compare diff validate verify test summarize explain diagnose audit lint estimate calculate compute count convert translate recommend',
  interact:
    'click type press hover drag scroll navigate select fill wait lock unlock approve reject merge subscribe install login',
} as const;

export type Action = keyof typeof ACTIONS;

/** Read-only actions. Confusing two of them is a smaller mistake than deleting. */
const READING: ReadonlySet<Action> = new Set(['get', 'list', 'search', 'analyze']);

const ACTION_OF: ReadonlyMap<string, Action> = new Map(
  Object.entries(ACTIONS).flatMap(([action, words]) =>
    words.split(' ').map((word): [string, Action] => [stem(word), action as Action]),
  ),
);

/** Returns the action that a term names; undefined if none. */
export function actionOf(term: string): Action | undefined {
  return ACTION_OF.get(term);
}

/** Returns the first action among terms. */
export function firstAction(terms: Iterable<string>): Action | undefined {
  for (const term of terms) {
    const action = ACTION_OF.get(term);
    if (action !== undefined) return action;
  }
  return undefined;
}

export function isReading(action: Action): boolean {
  return READING.has(action);
}
