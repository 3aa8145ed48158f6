/** Joins a verb and a particle that changes it to one more term: `power off` also gives `poweroff`, like `poweroff` itself. */

import { stem } from './stem.ts';

/** These are stop words otherwise. */
const PARTICLES: ReadonlySet<string> = new Set('on off in out up down over'.split(' '));

const VERBS: ReadonlySet<string> = new Set(
  (
    'power turn switch sign log opt check clock shut back set start scale spin roll zoom look sum clean tear fill ' +
    'lock boot wake warm cool count break mark bring take speed slow time fade hand carry call push pull ring pick ' +
    'drill print work point follow cut phase plug dial tune block drop keep go move top write read type'
  )
    .split(' ')
    .map((word) => stem(word)),
);

export function isParticle(word: string): boolean {
  return PARTICLES.has(word);
}

/** Returns the joined term of a verb's stem and a particle; undefined if the verb does not take particles. */
export function joinedVerb(verb: string, particle: string): string | undefined {
  return VERBS.has(verb) ? `${verb}${particle}` : undefined;
}

/** Particles that belong to a verb even some words later; `on` and `in` do so only at the end of a clause. */
const LOOSE: ReadonlySet<string> = new Set(['off', 'out', 'up', 'down']);
/** Number of words between a verb and its particle: `turn all the lights off`. */
const MAX_GAP = 4;

/** Returns the joined verbs of a sentence whose particle does not follow directly: `sign me out`. */
export function separatedVerbs(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let i = 2; i < words.length; i++) {
    const particle = words[i] as string;
    const isLast = i === words.length - 1;
    if (!LOOSE.has(particle) && !(isLast && PARTICLES.has(particle))) continue;
    for (let v = i - 2; v >= Math.max(0, i - 1 - MAX_GAP); v--) {
      const joined = joinedVerb(stem(words[v] as string), particle);
      if (joined === undefined) continue;
      found.push(joined);
      break;
    }
  }
  return found;
}
