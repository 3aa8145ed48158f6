/** Finds candidate tools for a query, lexically and semantically, and computes their features. */

import { getOrMake } from '../../lib/get-or-make.ts';
import type { Tool } from '../tool.ts';
import { Bm25f, type FieldTerms } from './bm25f.ts';
import { addContrast, type Match, matchOf } from './features.ts';
import { Glossary } from './glossary.ts';
import { type Question, questionOf } from './question.ts';
import { FIELDS, fieldTexts } from './search-fields.ts';
import { type Profile, profileOf } from './search-profile.ts';
import { Similarity } from './similarity.ts';
import { joinedSpellings } from './spellings.ts';
import { stem } from './stem.ts';
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

export interface Candidates {
  readonly list: readonly Candidate[];
  /** How well the best candidate for each term of the query matches it. */
  readonly coverage: readonly number[];
}

export interface CandidateOptions {
  readonly musts?: readonly string[];
  readonly also?: Iterable<number>;
}

const NO_GLOSSARY = new Glossary(new Uint8Array());

/** How many tools of a server have a term in their name. */
interface ServerNames {
  readonly counts: ReadonlyMap<number, number>;
  readonly size: number;
}

export class Matcher {
  readonly vocabulary: Vocabulary = new Vocabulary();
  readonly #documents: FieldTerms[];
  readonly #bm25f: Bm25f;
  readonly #embedding: Embedding;
  readonly #toolVectors: Float32Array;
  readonly #glossary: Glossary;
  readonly #profiles = new Map<number, Profile>();
  readonly #servers: readonly string[];
  readonly #siblings = new Map<string, ServerNames>();

  constructor(tools: readonly Tool[], vectors: WordVectors, glossary: Glossary = NO_GLOSSARY) {
    this.#glossary = glossary;
    this.#documents = tools.map((tool) => {
      const texts = fieldTexts(tool);
      return FIELDS.map((field) => this.vocabulary.add(texts[field]));
    });
    this.#servers = tools.map((tool) => tool.server);
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
    const english = this.#glossary.english(text, (word) => this.vocabulary.idOf(stem(word)) !== undefined);
    return questionOf(
      joinedSpellings(english, this.vocabulary),
      this.vocabulary,
      this.#bm25f,
      this.#embedding,
    );
  }

  /** Returns the candidates. Each must contain all `musts`; `also` adds positions from other sources, such as usage. */
  candidates(question: Question, { musts = [], also = [] }: CandidateOptions = {}): Candidates {
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
    const found = [...positions];
    const matches = found.map((position) =>
      matchOf(question, this.profile(position), {
        lexical: lexical[position] as number,
        bestLexical: lexical[byLexical[0] ?? 0] as number,
        lexicalRank: lexicalRanks.get(position) ?? CANDIDATES_EACH_WAY,
        semantic: semantic[position] as number,
        semanticRank: semanticRanks.get(position) ?? CANDIDATES_EACH_WAY,
        idf,
        siblingIdf: this.#siblingIdf(position),
        similarity,
      }),
    );
    addContrast(question, matches);
    return {
      coverage: bestMatches(question, matches),
      list: found.map((position, i) => ({ position, features: (matches[i] as Match).features })),
    };
  }

  /** Returns the rarity of terms among the names of a tool's server; computed when one of its tools is first a candidate. */
  #siblingIdf(position: number): (term: number) => number {
    const server = this.#servers[position] as string;
    const { counts, size } = getOrMake(this.#siblings, server, () => this.#namesOf(server));
    return (term) => Math.log(1 + (size + 1) / ((counts.get(term) ?? 0) + 0.5));
  }

  #namesOf(server: string): ServerNames {
    const counts = new Map<number, number>();
    let size = 0;
    for (let d = 0; d < this.#documents.length; d++) {
      if (this.#servers[d] !== server) continue;
      size++;
      for (const term of new Set(this.#documents[d]?.[0])) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    return { counts, size };
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

function bestMatches({ terms }: Question, matches: readonly Match[]): number[] {
  return terms.map((_term, i) =>
    matches.reduce((best, { anywhere }) => Math.max(best, anywhere[i] as number), 0),
  );
}
