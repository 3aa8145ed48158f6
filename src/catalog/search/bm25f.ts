/** BM25F over a tool's fields: which tools share rare words with a query, and in which fields. */

import { FIELDS, type Field } from './fields.ts';

/** What a word is worth in each field, and how far a long field takes away from it. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = {
  name: 3,
  server: 1.5,
  description: 1,
  parameters: 0.6,
  parameterTexts: 0.25,
};
const LENGTH_NORM: Readonly<Record<Field, number>> = {
  name: 0.5,
  server: 0,
  description: 0.6,
  parameters: 0.6,
  parameterTexts: 0.7,
};
/** Where a word said often stops to count for more. */
const SATURATION = 1.2;

/** One tool: the terms of each field, in the order of FIELDS. */
export type FieldTerms = readonly (readonly number[])[];

interface Postings {
  readonly documents: Int32Array;
  /** The saturated, idf-weighted share of the term in each of those documents. */
  readonly weights: Float32Array;
}

export class Bm25f {
  readonly #postings: (Postings | undefined)[];
  readonly #idf: Float32Array;
  readonly size: number;

  constructor(documents: readonly FieldTerms[], termCount: number) {
    this.size = documents.length;
    const averages = FIELDS.map((_field, f) => average(documents, f));
    const found: { documents: number[]; frequencies: number[] }[] = [];
    for (let t = 0; t < termCount; t++) found.push({ documents: [], frequencies: [] });
    for (let d = 0; d < documents.length; d++) {
      for (const [term, frequency] of frequencies(documents[d] ?? [], averages)) {
        found[term]?.documents.push(d);
        found[term]?.frequencies.push(frequency);
      }
    }
    this.#idf = new Float32Array(termCount);
    this.#postings = found.map((entry, term) => {
      const df = entry.documents.length;
      const idf = Math.log(1 + (this.size - df + 0.5) / (df + 0.5));
      this.#idf[term] = idf;
      const weights = Float32Array.from(
        entry.frequencies,
        (tf) => (idf * tf * (SATURATION + 1)) / (tf + SATURATION),
      );
      return { documents: Int32Array.from(entry.documents), weights };
    });
  }

  /** How rare a term is here; terms that no tool has are the rarest. */
  idf(term: number): number {
    return this.#idf[term] ?? this.unseenIdf;
  }

  get unseenIdf(): number {
    return Math.log(1 + (this.size + 0.5) / 0.5);
  }

  /** The positions of the tools that have a term. */
  documentsWith(term: number): number[] {
    return [...(this.#postings[term]?.documents ?? [])];
  }

  /** Every tool's score, by its position. Terms count as often as they are given, weighted by `weights`. */
  scores(terms: readonly number[], weights: readonly number[] = []): Float32Array {
    const scores = new Float32Array(this.size);
    for (let i = 0; i < terms.length; i++) {
      const postings = this.#postings[terms[i] ?? -1];
      if (!postings) continue;
      const factor = weights[i] ?? 1;
      const { documents, weights: shares } = postings;
      for (let p = 0; p < documents.length; p++) {
        const d = documents[p] as number;
        scores[d] = (scores[d] as number) + factor * (shares[p] as number);
      }
    }
    return scores;
  }
}

function average(documents: readonly FieldTerms[], field: number): number {
  let sum = 0;
  for (const document of documents) sum += document[field]?.length ?? 0;
  return Math.max(1, sum / Math.max(1, documents.length));
}

function frequencies(document: FieldTerms, averages: readonly number[]): Map<number, number> {
  const tf = new Map<number, number>();
  for (let f = 0; f < FIELDS.length; f++) {
    const field = FIELDS[f] as Field;
    const terms = document[f] ?? [];
    const norm = 1 - LENGTH_NORM[field] + (LENGTH_NORM[field] * terms.length) / (averages[f] ?? 1);
    const share = FIELD_WEIGHT[field] / norm;
    for (const term of terms) tf.set(term, (tf.get(term) ?? 0) + share);
  }
  return tf;
}
