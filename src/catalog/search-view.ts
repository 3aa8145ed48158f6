/** Search over the newest snapshot: the index is built at the first search and kept until the snapshot changes. */

import { isForModel } from './app-tools.ts';
import type { Snapshot } from './catalog.ts';
import type { Habits } from './habits.ts';
import type { SearchHit, ToolIndex } from './search/tool-index.ts';

export type Search = (query: string, limit?: number) => Promise<SearchHit[]>;

export function createSearch(snapshot: () => Snapshot, habits: Habits | undefined): Search {
  let built: { readonly version: number; readonly index: ToolIndex } | undefined;
  return async (query, limit) => {
    // The ranker and what it learnt are loaded when somebody searches, not before.
    const { buildIndex } = await import('./search/tool-index.ts');
    const { version, tools, find } = snapshot();
    if (built?.version !== version) built = { version, index: buildIndex(tools.filter(isForModel)) };
    const usage = await habits?.counts();
    return built.index.search(query, {
      find,
      ...(limit === undefined ? {} : { limit }),
      ...(usage === undefined ? {} : { usage }),
    });
  };
}
