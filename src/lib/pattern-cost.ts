/**
 * Bounds the cost of an untrusted regular expression. Matching is backtracking, so the number of ways in which a
 * pattern can match a text bounds the work; it is computed from the pattern, never by running it.
 */

import { attempt } from './attempt.ts';

/** `e^log × chars^degree` ways. */
interface Ways {
  readonly log: number;
  readonly degree: number;
}

const ONE: Ways = { log: 0, degree: 0 };

/**
 * An upper bound of a pattern's cost. `patternCost` returns undefined for patterns without one: back references,
 * look-arounds, and repeats of items that repeat or choose.
 */
export interface PatternCost {
  /** Maximum number of steps for a text of this length. */
  steps(chars: number): number;
}

export function patternCost(pattern: string): PatternCost | undefined {
  const reader = new Reader(pattern);
  const ways = reader.choices();
  if (ways === undefined || !reader.isDone) return undefined;
  // A match may begin anywhere, unless the pattern is anchored at the start.
  const degree = ways.degree + (/^\^[^|]*$/.test(pattern) ? 0 : 1);
  return { steps: (chars) => pattern.length * Math.exp(ways.log) * Math.max(chars, 1) ** degree };
}

/** Compiles a pattern without running it, so a costly pattern has no effect here (A18); undefined if it is invalid. */
export function parsePattern(pattern: string, flags = 'u'): RegExp | undefined {
  return attempt(() => new RegExp(pattern, flags), undefined);
}

/** Parses a pattern once, from left to right. */
class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isDone(): boolean {
    return this.#at === this.#pattern.length;
  }

  /** `a|b|c`: the sum of the ways of all branches. */
  choices(): Ways | undefined {
    const branches: Ways[] = [];
    do {
      const branch = this.#sequence();
      if (branch === undefined) return undefined;
      branches.push(branch);
    } while (this.#take(/\|/y) !== undefined);
    return {
      log: Math.max(...branches.map(({ log }) => log)) + Math.log(branches.length),
      degree: Math.max(...branches.map(({ degree }) => degree)),
    };
  }

  /** A sequence: the product of the ways of its items. */
  #sequence(): Ways | undefined {
    let { log, degree } = ONE;
    while (!this.isDone && !/[|)]/.test(this.#pattern.charAt(this.#at))) {
      const item = this.#item();
      const repeated = item === undefined ? undefined : this.#repeated(item);
      if (repeated === undefined) return undefined;
      log += repeated.log;
      degree += repeated.degree;
    }
    return { log, degree };
  }

  /** A group, a class or a character. */
  #item(): Ways | undefined {
    if (this.#take(/\((?:\?:|\?<[\w$]+>)?/y) !== undefined) {
      if (this.#take(/\?/y) !== undefined) return undefined;
      const inside = this.choices();
      return this.#take(/\)/y) === undefined ? undefined : inside;
    }
    if (this.#take(/\\[1-9k]/y) !== undefined) return undefined;
    const single = /\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\()[|]/sy;
    return this.#take(single) === undefined ? undefined : ONE;
  }

  #repeated(item: Ways): Ways | undefined {
    const found = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (found === undefined) return item;
    const { least, most } = timesOf(found);
    if (most !== Number.POSITIVE_INFINITY) {
      return { log: item.log * most + Math.log(Math.max(most - least, 0) + 1), degree: item.degree * most };
    }
    return item.log === 0 && item.degree === 0 ? { log: 0, degree: 1 } : undefined;
  }

  #take(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at;
    const [found] = sticky.exec(this.#pattern) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function timesOf(quantifier: string): { readonly least: number; readonly most: number } {
  const [, least, upTo, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (least !== undefined) {
    const end = most !== '' && most !== undefined ? Number(most) : upTo === '' ? Number(least) : undefined;
    return { least: Number(least), most: end ?? Number.POSITIVE_INFINITY };
  }
  return quantifier.startsWith('?') ? { least: 0, most: 1 } : { least: 0, most: Number.POSITIVE_INFINITY };
}
