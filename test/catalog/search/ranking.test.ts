import { describe, expect, it } from 'vitest';
import { Bm25f } from '../../../src/catalog/search/bm25f.ts';
import { FIELDS, fieldTexts } from '../../../src/catalog/search/search-fields.ts';
import { lexicalModel } from '../../../src/catalog/search/search-model.ts';
import { termsOf, Vocabulary } from '../../../src/catalog/search/terms.ts';
import { buildIndex } from '../../../src/catalog/search/tool-index.ts';
import { GUARD_QUERIES, GUARD_TOOLS } from './guard-set.ts';

type Rank = (query: string) => readonly string[];

/** Share of the guard queries whose tool is among the first `k`. */
function recall(rank: Rank, k: number): number {
  const hits = GUARD_QUERIES.filter(([query, tool]) => rank(query).slice(0, k).includes(tool));
  return hits.length / GUARD_QUERIES.length;
}

function lexicalRank(): Rank {
  const vocabulary = new Vocabulary();
  const documents = GUARD_TOOLS.map((tool) => FIELDS.map((field) => vocabulary.add(fieldTexts(tool)[field])));
  const bm25f = new Bm25f(documents, vocabulary.size);
  return (query) => {
    const scores = bm25f.scores(termsOf(query).map((term) => vocabulary.idOf(term) ?? -1));
    return [...scores.keys()]
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
      .map((position) => GUARD_TOOLS[position]?.name ?? '');
  };
}

describe('CAT-8: the ranker on the guard set', () => {
  const index = buildIndex(GUARD_TOOLS);
  const rank: Rank = (query) => index.search(query, { limit: 10 }).map((hit) => hit.tool.name);

  it('puts the right tool first for four queries of five and among five nearly always', () => {
    const missed = GUARD_QUERIES.filter(([query, tool]) => !rank(query).slice(0, 5).includes(tool));
    expect(recall(rank, 1)).toBeGreaterThanOrEqual(0.8);
    expect(missed.length).toBeLessThanOrEqual(2);
  });

  it('is better than BM25F alone, at one and at five', () => {
    const lexical = lexicalRank();
    expect(recall(rank, 1)).toBeGreaterThan(recall(lexical, 1));
    expect(recall(rank, 5)).toBeGreaterThan(recall(lexical, 5));
  });

  it('without the asset it is still better than BM25F alone', () => {
    const words = buildIndex(GUARD_TOOLS, lexicalModel());
    const withoutAsset: Rank = (query) => words.search(query, { limit: 10 }).map((hit) => hit.tool.name);
    expect(recall(withoutAsset, 1)).toBeGreaterThan(recall(lexicalRank(), 1));
    expect(recall(withoutAsset, 5)).toBeGreaterThanOrEqual(recall(lexicalRank(), 5));
  });

  it('gives the same answer twice, whatever was asked in between', () => {
    const first = GUARD_QUERIES.map(([query]) => rank(query));
    const fresh = buildIndex(GUARD_TOOLS);
    const second = GUARD_QUERIES.map(([query]) =>
      fresh.search(query, { limit: 10 }).map((hit) => hit.tool.name),
    );
    expect(GUARD_QUERIES.map(([query]) => rank(query))).toEqual(first);
    expect(second).toEqual(first);
  });
});
