/** Computes the weight of each term in a tool's vector. One instance is reused for all tools of an index. */

import { FIELDS, type Field } from './search-fields.ts';

/** Total weight of a field's terms. The longer the field, the lower the weight of each term. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = {
  name: 1,
  server: 0.4,
  description: 1,
  parameters: 0.3,
  parameterTexts: 0.3,
};

export class TermShares {
  /** The different terms of the current tool, in the order of first use; only the first `size` entries are valid. */
  readonly terms: Int32Array;
  /** The share of each of these terms. */
  readonly shares: Float64Array;
  size = 0;
  /** Index of a term in `terms`; valid only if `#tools` has the current tool's number. */
  readonly #slots: Int32Array;
  /** The number of the last tool, and of the last field, that had a term. */
  readonly #tools: Int32Array;
  readonly #fields: Int32Array;
  /** The slots of one field's different terms. */
  readonly #unique: Int32Array;
  #tool = 0;
  #field = 0;

  /** Creates buffers for term ids below `termCount`. */
  constructor(termCount: number) {
    this.terms = new Int32Array(termCount);
    this.shares = new Float64Array(termCount);
    this.#slots = new Int32Array(termCount);
    this.#tools = new Int32Array(termCount);
    this.#fields = new Int32Array(termCount);
    this.#unique = new Int32Array(termCount);
  }

  /** Computes the shares of one tool's terms, given field by field. */
  fill(fields: readonly (readonly number[])[]): void {
    this.size = 0;
    this.#tool++;
    for (let f = 0; f < FIELDS.length; f++) this.#addField(fields[f] ?? [], FIELD_WEIGHT[FIELDS[f] as Field]);
  }

  #addField(terms: readonly number[], weight: number): void {
    const field = ++this.#field;
    let count = 0;
    for (let i = 0; i < terms.length; i++) {
      const term = terms[i] as number;
      if (this.#fields[term] === field) continue;
      this.#fields[term] = field;
      this.#unique[count++] = this.#slotOf(term);
    }
    const share = weight / Math.sqrt(count);
    for (let i = 0; i < count; i++) {
      const slot = this.#unique[i] as number;
      this.shares[slot] = (this.shares[slot] as number) + share;
    }
  }

  #slotOf(term: number): number {
    if (this.#tools[term] === this.#tool) return this.#slots[term] as number;
    const slot = this.size++;
    this.#tools[term] = this.#tool;
    this.#slots[term] = slot;
    this.terms[slot] = term;
    this.shares[slot] = 0;
    return slot;
  }
}
