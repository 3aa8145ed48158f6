/** BM25F over a tool's fields: scores tools by rare terms that they share with a query. */

import { FIELDS, type Field } from './search-fields.ts';

/** Weight of a term in each field, and length normalization of each field. */
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
/** Saturation of term frequency (k1). */
const SATURATION = 1.2;

/** The terms of each field of one tool, in the order of FIELDS. */
export type FieldTerms = readonly (readonly number[])[];

export class Bm25f {
  /** Offset of each term's postings; one more entry than there are terms. */
  readonly #starts: Int32Array;
  /** The positions of the tools that have a term, term after term. */
  readonly #documents: Int32Array;
  /** The score that the term adds to each of those tools. */
  readonly #weights: Float32Array;
  readonly #idf: Float32Array;
  readonly size: number;

  constructor(documents: readonly FieldTerms[], termCount: number) {
    this.size = documents.length;
    const found = frequencies(documents, termCount);
    this.#starts = new Int32Array(termCount + 1);
    for (const term of found.terms) this.#starts[term + 1] = (this.#starts[term + 1] as number) + 1;
    this.#idf = new Float32Array(termCount);
    for (let t = 0; t < termCount; t++) {
      const count = this.#starts[t + 1] as number;
      this.#idf[t] = Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
      this.#starts[t + 1] = count + (this.#starts[t] as number);
    }
    this.#documents = new Int32Array(found.terms.length);
    this.#weights = new Float32Array(found.terms.length);
    const next = this.#starts.slice();
    for (let i = 0; i < found.terms.length; i++) {
      const term = found.terms[i] as number;
      const at = next[term] as number;
      next[term] = at + 1;
      const tf = found.frequencies[i] as number;
      this.#documents[at] = found.documents[i] as number;
      this.#weights[at] = ((this.#idf[term] as number) * tf * (SATURATION + 1)) / (tf + SATURATION);
    }
  }

  /** Returns the inverse document frequency of a term; highest for terms that no tool has. */
  idf(term: number): number {
    return this.#idf[term] ?? Math.log(1 + (this.size + 0.5) / 0.5);
  }

  /** Returns the positions of the tools that have a term. */
  documentsWith(term: number): number[] {
    return [...this.#documents.subarray(this.#starts[term] ?? 0, this.#starts[term + 1] ?? 0)];
  }

  /** Returns every tool's score by position. Each term is weighted by its share (default 1). */
  scores(terms: readonly number[], shares: readonly number[] = []): Float32Array {
    const scores = new Float32Array(this.size);
    for (let i = 0; i < terms.length; i++) {
      const term = terms[i] as number;
      const share = shares[i] ?? 1;
      const end = this.#starts[term + 1] ?? 0;
      for (let p = this.#starts[term] ?? 0; p < end; p++) {
        const d = this.#documents[p] as number;
        scores[d] = (scores[d] as number) + share * (this.#weights[p] as number);
      }
    }
    return scores;
  }
}

interface Frequencies {
  readonly terms: Int32Array;
  readonly documents: Int32Array;
  readonly frequencies: Float32Array;
}

/** Computes weighted term frequencies per tool: three columns, tool after tool. */
function frequencies(documents: readonly FieldTerms[], termCount: number): Frequencies {
  const averages = FIELDS.map((_field, f) => averageLength(documents, f));
  let most = 0;
  for (const document of documents) for (const terms of document) most += terms.length;
  const columns = {
    terms: new Int32Array(most),
    documents: new Int32Array(most),
    frequencies: new Float32Array(most),
  };
  let rows = 0;
  /** The row of each term in the current tool; rows before the tool's first belong to other tools. */
  const rowOf = new Int32Array(termCount).fill(-1);
  for (let d = 0; d < documents.length; d++) {
    const document = documents[d] as FieldTerms;
    const firstRow = rows;
    for (let f = 0; f < FIELDS.length; f++) {
      const field = FIELDS[f] as Field;
      const terms = document[f] ?? [];
      const norm = 1 - LENGTH_NORM[field] + (LENGTH_NORM[field] * terms.length) / (averages[f] as number);
      const share = FIELD_WEIGHT[field] / norm;
      for (let i = 0; i < terms.length; i++) {
        const term = terms[i] as number;
        let row = rowOf[term] as number;
        if (row < firstRow) {
          row = rows++;
          rowOf[term] = row;
          columns.terms[row] = term;
          columns.documents[row] = d;
        }
        columns.frequencies[row] = (columns.frequencies[row] as number) + share;
      }
    }
  }
  return {
    terms: columns.terms.subarray(0, rows),
    documents: columns.documents.subarray(0, rows),
    frequencies: columns.frequencies.subarray(0, rows),
  };
}

function averageLength(documents: readonly FieldTerms[], field: number): number {
  let sum = 0;
  for (const document of documents) sum += document[field]?.length ?? 0;
  return Math.max(1, sum / Math.max(1, documents.length));
}
