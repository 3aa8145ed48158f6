/** Ranking data of one tool besides its terms; created when the tool is first a candidate. */

import type { FieldTerms } from './bm25f.ts';
import type { Vocabulary } from './terms.ts';
import { type Action, actionOf, firstAction } from './verbs.ts';

/** The part of a tool that contains a term, as bits. */
export const IN_NAME = 1;
export const IN_SERVER = 2;
export const IN_LEAD = 4;
export const IN_DESCRIPTION = 8;
export const IN_PARAMETERS = 16;
export const IN_PARAMETER_TEXTS = 32;

/** Number of a description's first terms that form its lead: about a sentence. */
const LEAD_TERMS = 12;

export interface Profile {
  readonly fields: FieldTerms;
  readonly where: ReadonlyMap<number, number>;
  readonly nameTerms: readonly number[];
  readonly leadTerms: readonly number[];
  readonly action: Action | undefined;
  /** Neighbouring terms of name and description, as `first * PAIR + second`. */
  readonly pairs: ReadonlySet<number>;
}

/** Term ids are below this, so that a pair fits in one number. */
export const PAIR: number = 2 ** 24;

export function profileOf(fields: FieldTerms, vocabulary: Vocabulary): Profile {
  const [name = [], server = [], description = [], parameters = [], parameterTexts = []] = fields;
  const lead = description.slice(0, LEAD_TERMS);
  const where = new Map<number, number>();
  const mark = (terms: readonly number[], bit: number): void => {
    for (const term of terms) where.set(term, (where.get(term) ?? 0) | bit);
  };
  mark(name, IN_NAME);
  mark(server, IN_SERVER);
  mark(lead, IN_LEAD);
  mark(description, IN_DESCRIPTION);
  mark(parameters, IN_PARAMETERS);
  mark(parameterTexts, IN_PARAMETER_TEXTS);
  const pairs = new Set<number>();
  for (const terms of [name, description]) {
    for (let i = 0; i + 1 < terms.length; i++)
      pairs.add((terms[i] as number) * PAIR + (terms[i + 1] as number));
  }
  return {
    fields,
    where,
    nameTerms: [...new Set(name)],
    leadTerms: [...new Set(lead)],
    action: actionOfTool(name, lead, vocabulary),
    pairs,
  };
}

/** Names start or end with their verb; otherwise the description may start with one. */
function actionOfTool(
  name: readonly number[],
  lead: readonly number[],
  vocabulary: Vocabulary,
): Action | undefined {
  const word = (id: number | undefined): string => (id === undefined ? '' : vocabulary.term(id));
  return (
    actionOf(word(name[0])) ??
    actionOf(word(name.at(-1))) ??
    firstAction(name.map(word)) ??
    firstAction(lead.slice(0, 3).map(word))
  );
}
