/** Searches the newest snapshot; builds the index at the first search and keeps it until the snapshot changes. */

import { defined } from '../lib/defined.ts';
import type { Snapshot } from './catalog.ts';
import type { SearchModel } from './search/search-model.ts';
import type { SearchHit, ToolIndex } from './search/tool-index.ts';
import type { SearchUsage } from './search-usage.ts';
import { isForModel } from './tool.ts';

export type Search = (query: string, limit?: number) => Promise<SearchHit[]>;

export interface SearchSource {
  readonly snapshot: () => Snapshot;
  readonly searchUsage: SearchUsage | undefined;
  /** The bytes of `assets/tool-search.bin`; default: read from the package. */
  readonly model?: Uint8Array | undefined;
  /** Called once if the asset is missing. */
  readonly warn: (message: string) => void;
}

export function createSearch({ snapshot, searchUsage, model: bytes, warn }: SearchSource): Search {
  let model: SearchModel | undefined;
  let built: { readonly version: number; readonly index: ToolIndex } | undefined;
  return async (query, limit) => {
    // The ranker and its asset are loaded with the first search.
    const [{ buildIndex }, { decodeModel, lexicalModel, loadModel }] = await Promise.all([
      import('./search/tool-index.ts'),
      import('./search/search-model.ts'),
    ]);
    model ??= bytes === undefined ? loadModel() : decodeModel(bytes);
    if (model === undefined) {
      model = lexicalModel();
      warn(LEXICAL_ONLY);
    }
    const { version, tools, find } = snapshot();
    if (built?.version !== version) built = { version, index: buildIndex(tools.filter(isForModel), model) };
    const usage = await searchUsage?.counts();
    return built.index.search(query, {
      find,
      ...defined({ limit, usage }),
    });
  };
}

const LEXICAL_ONLY =
  'Tool search compares words only: assets/tool-search.bin was not found. Give its bytes to createHost as searchModel.';
