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

/** No reasons: the tool was found by its meaning alone. */
export function reasonsFor(query: string, profile: Profile, vocabulary: Vocabulary): Reason[] {
  const words = [...new Set(wordsOf(query))].filter((word) => !isStopWord(word));
  const reasons: Reason[] = [];
  for (const [bit, field] of FIELD_OF_BIT) {
    const found = words.filter((word) => {
      const term = vocabulary.idOf(stem(word));
      return term !== undefined && ((profile.where.get(term) ?? 0) & bit) !== 0;
    });
    if (found.length > 0) reasons.push({ field, words: found });
  }
  return reasons;
}
