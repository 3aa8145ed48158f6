/** Says why a tool was found: which words of the query stand in which part of it. */

import type { Field } from './fields.ts';
import {
  IN_DESCRIPTION,
  IN_NAME,
  IN_PARAMETER_TEXTS,
  IN_PARAMETERS,
  IN_SERVER,
  type Profile,
} from './profile.ts';
import { stem } from './stem.ts';
import { isStopWord, type Vocabulary } from './terms.ts';
import { wordsOf } from './words.ts';

export interface Reason {
  readonly field: Field;
  /** As the query has them. */
  readonly words: readonly string[];
}

const FIELD_OF_BIT: readonly (readonly [number, Field])[] = [
  [IN_NAME, 'name'],
  [IN_SERVER, 'server'],
  [IN_DESCRIPTION, 'description'],
  [IN_PARAMETERS, 'parameters'],
  [IN_PARAMETER_TEXTS, 'parameterTexts'],
];

/** A query's words with the terms that they are in an index; made once for all that the query finds. */
export interface AskedWord {
  readonly word: string;
  readonly term: number;
}

export function askedWords(query: string, vocabulary: Vocabulary): AskedWord[] {
  return [...new Set(wordsOf(query))].flatMap((word) => {
    const term = isStopWord(word) ? undefined : vocabulary.idOf(stem(word));
    return term === undefined ? [] : [{ word, term }];
  });
}

/** No reasons: the tool was found by its meaning alone. */
export function reasonsFor(asked: readonly AskedWord[], profile: Profile): Reason[] {
  const reasons: Reason[] = [];
  for (const [bit, field] of FIELD_OF_BIT) {
    const found = asked.filter(({ term }) => ((profile.where.get(term) ?? 0) & bit) !== 0);
    if (found.length > 0) reasons.push({ field, words: found.map(({ word }) => word) });
  }
  return reasons;
}
