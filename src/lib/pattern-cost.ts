/**
 * How much a stranger's regular expression may cost. Matching tries one way after the other, so the number of ways in
 * which a pattern can lie on a text bounds the work; it is read off the pattern, and never found out by running it.
 */

/** `e^log × chars^degree` ways. */
interface Ways {
  readonly log: number;
  readonly degree: number;
}

const ONE: Ways = { log: 0, degree: 0 };

/** Undefined for what has no such bound: back references, look-arounds, and repeats of what repeats or chooses. */
export interface PatternCost {
  /** Steps for a text of so many characters, at most. */
  steps(chars: number): number;
}

export function patternCost(pattern: string): PatternCost | undefined {
  const reader = new Reader(pattern);
  const ways = reader.choices();
  if (ways === undefined || !reader.isDone) return undefined;
  // A match may begin anywhere, unless the pattern says that it begins at the start.
  const degree = ways.degree + (/^\^[^|]*$/.test(pattern) ? 0 : 1);
  return { steps: (chars) => pattern.length * Math.exp(ways.log) * Math.max(chars, 1) ** degree };
}

/** Reads a pattern once, from left to right. */
class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isDone(): boolean {
    return this.#at === this.#pattern.length;
  }

  /** `a|b|c`: the ways of all of them together. */
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

  /** One after the other: each way of the one goes with each way of the next. */
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
