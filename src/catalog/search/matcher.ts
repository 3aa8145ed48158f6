/** Finds candidate tools for a query, lexically and semantically, and computes their features. */

import { getOrMake } from '../../lib/get-or-make.ts';
import type { Tool } from '../tool.ts';
import { Bm25f, type FieldTerms } from './bm25f.ts';
import { featuresOf } from './features.ts';
import { type Question, questionOf } from './question.ts';
import { FIELDS, fieldTexts } from './search-fields.ts';
import { type Profile, profileOf } from './search-profile.ts';
import { Similarity } from './similarity.ts';
import { TermShares } from './term-shares.ts';
import { termsOf, Vocabulary } from './terms.ts';
import { dot, Embedding, type WordVectors } from './word-vectors.ts';

/** Number of candidates from each method for the final ranking. */
const CANDIDATES_EACH_WAY = 30;

export interface Candidate {
  /** The tool's position in the index. */
  readonly position: number;
  readonly features: Float32Array;
}

export interface CandidateOptions {
  readonly musts?: readonly string[];
  readonly also?: Iterable<number>;
}

export class Matcher {
  readonly vocabulary: Vocabulary = new Vocabulary();
  readonly #documents: FieldTerms[];
  readonly #bm25f: Bm25f;
  readonly #embedding: Embedding;
  readonly #toolVectors: Float32Array;
  readonly #profiles = new Map<number, Profile>();

  constructor(tools: readonly Tool[], vectors: WordVectors) {
    this.#documents = tools.map((tool) => {
      const texts = fieldTexts(tool);
      return FIELDS.map((field) => this.vocabulary.add(texts[field]));
    });
    this.#bm25f = new Bm25f(this.#documents, this.vocabulary.size);
    this.#embedding = new Embedding(vectors, this.vocabulary);
    const { dimensions } = vectors;
    this.#toolVectors = new Float32Array(tools.length * dimensions);
    const shares = new TermShares(this.vocabulary.size);
    for (let d = 0; d < tools.length; d++) {
      shares.fill(this.#documents[d] ?? []);
      const into = this.#toolVectors.subarray(d * dimensions, (d + 1) * dimensions);
      this.#embedding.embed(shares, into);
    }
  }

  question(text: string): Question {
    return questionOf(text, this.vocabulary, this.#bm25f, this.#embedding);
  }

  /** Returns the candidates. Each must contain all `musts`; `also` adds positions from other sources, such as usage. */
  candidates(question: Question, { musts = [], also = [] }: CandidateOptions = {}): Candidate[] {
    const lexical = this.#bm25f.scores(question.terms, question.shares);
    const semantic = this.#semantic(question);
    const allowed = this.#holding(musts);
    const byLexical = top(lexical, CANDIDATES_EACH_WAY, allowed);
    const bySemantic = top(semantic, CANDIDATES_EACH_WAY, allowed);
    const lexicalRanks = new Map(byLexical.map((d, rank) => [d, rank]));
    const semanticRanks = new Map(bySemantic.map((d, rank) => [d, rank]));
    const similarity = new Similarity(question.terms, question.rows, this.#embedding);
    const idf = (term: number): number => this.#bm25f.idf(term);
    const positions = new Set([...byLexical, ...bySemantic]);
    for (const position of also) if (allowed === undefined || allowed.has(position)) positions.add(position);
    return [...positions].map((position) => ({
      position,
      features: featuresOf(question, this.profile(position), {
        lexical: lexical[position] as number,
        bestLexical: lexical[byLexical[0] ?? 0] as number,
        lexicalRank: lexicalRanks.get(position) ?? CANDIDATES_EACH_WAY,
        semantic: semantic[position] as number,
        semanticRank: semanticRanks.get(position) ?? CANDIDATES_EACH_WAY,
        idf,
        similarity,
      }),
    }));
  }

  profile(position: number): Profile {
    return getOrMake(this.#profiles, position, () =>
      profileOf(this.#documents[position] ?? [], this.vocabulary),
    );
  }

  #semantic(question: Question): Float32Array {
    const { dimensions } = this.#embedding;
    const similarities = new Float32Array(this.#documents.length);
    for (let d = 0; d < similarities.length; d++)
      similarities[d] = dot(question.vector, this.#toolVectors, d * dimensions);
    return similarities;
  }

  /** Returns the tools that contain all words; undefined if there are no words. */
  #holding(words: readonly string[]): ReadonlySet<number> | undefined {
    const terms = words.flatMap((word) => termsOf(word));
    if (terms.length === 0) return undefined;
    let held: Set<number> | undefined;
    for (const term of terms) {
      const having = this.#bm25f.documentsWith(this.vocabulary.idOf(term) ?? -1);
      held = new Set(held === undefined ? having : having.filter((d) => held?.has(d)));
    }
    return held;
  }
}

/** Returns the positions of the largest positive scores, best first; ties keep the order of the tools. */
function top(scores: Float32Array, count: number, allowed: ReadonlySet<number> | undefined): number[] {
  const kept: number[] = [];
  let least = 0;
  for (let d = 0; d < scores.length; d++) {
    const score = scores[d] as number;
    if (score <= least || (allowed !== undefined && !allowed.has(d))) continue;
    let at = kept.length;
    while (at > 0 && (scores[kept[at - 1] as number] as number) < score) at--;
    kept.splice(at, 0, d);
    if (kept.length > count) kept.pop();
    if (kept.length === count) least = scores[kept[count - 1] as number] as number;
  }
  return kept;
}
