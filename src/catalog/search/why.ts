/** Explains a search result: the query's words found in each part of the tool. */

import type { Field } from './search-fields.ts';
import {
  IN_DESCRIPTION,
  IN_NAME,
  IN_PARAMETER_TEXTS,
  IN_PARAMETERS,
  IN_SERVER,
  type Profile,
} from './search-profile.ts';
import { wordsOf } from './split-words.ts';
import { stem } from './stem.ts';
import { isStopWord, type Vocabulary } from './terms.ts';

export interface Reason {
  readonly field: Field;
  /** As written in the query. */
  readonly words: readonly string[];
}

const FIELD_OF_BIT: readonly (readonly [number, Field])[] = [
  [IN_NAME, 'name'],
  [IN_SERVER, 'server'],
  [IN_DESCRIPTION, 'description'],
  [IN_PARAMETERS, 'parameters'],
  [IN_PARAMETER_TEXTS, 'parameterTexts'],
];

/** A query's word with its term in an index; computed once per query. */
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

/** Returns the reasons; empty if the tool was found only semantically. */
export function reasonsFor(asked: readonly AskedWord[], profile: Profile): Reason[] {
  const reasons: Reason[] = [];
  for (const [bit, field] of FIELD_OF_BIT) {
    const found = asked.filter(({ term }) => ((profile.where.get(term) ?? 0) & bit) !== 0);
    if (found.length > 0) reasons.push({ field, words: found.map(({ word }) => word) });
  }
  return reasons;
}
