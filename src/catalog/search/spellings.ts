/** Finds the spelling of a compound that the tools use: `digital ocean` or `digitalocean`. */

import { wordsOf } from './split-words.ts';
import { stem } from './stem.ts';
import { isStopWord, type Vocabulary } from './terms.ts';

/** Shorter parts are found in too many words. */
const MIN_PART = 3;

/** Returns the query with the other spelling of its compounds appended, if the tools have it. */
export function joinedSpellings(text: string, vocabulary: Vocabulary): string {
  const words = wordsOf(text);
  const more: string[] = [];
  const isKnown = (word: string): boolean => vocabulary.idOf(stem(word)) !== undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const next = words[i + 1];
    const pair = `${word}${next ?? ''}`;
    if (next !== undefined && !isStopWord(word) && !isStopWord(next) && isKnown(pair)) more.push(pair);
    if (isKnown(word)) continue;
    for (let at = MIN_PART; at <= word.length - MIN_PART; at++) {
      const parts = [word.slice(0, at), word.slice(at)];
      if (!parts.every((part) => isKnown(part) && !isStopWord(part))) continue;
      more.push(...parts);
      break;
    }
  }
  return more.length === 0 ? text : `${text} , ${more.join(' , ')}`;
}
