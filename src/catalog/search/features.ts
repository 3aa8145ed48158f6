/** Computes the features of one tool for one query, which the ranker weighs. */

import type { Question } from './question.ts';
import {
  IN_DESCRIPTION,
  IN_LEAD,
  IN_NAME,
  IN_PARAMETER_TEXTS,
  IN_PARAMETERS,
  IN_SERVER,
  type Profile,
} from './search-profile.ts';
import type { Similarity } from './similarity.ts';
import { isReading } from './verbs.ts';

/** The names of the features, in the order of a feature vector. */
export const FEATURES = [
  'lexical',
  'lexicalAbsolute',
  'lexicalRank',
  'semantic',
  'semanticRank',
  'coveredByName',
  'coveredByServer',
  'coveredByLead',
  'coveredByDescription',
  'coveredByParameters',
  'coveredByParameterTexts',
  'coveredAnywhere',
  'nameCovered',
  'nameCoveredSoftly',
  'leadCoveredSoftly',
  'softlyCoveredByName',
  'softlyCoveredByLead',
  'pairs',
  'sameAction',
  'otherAction',
  'changesUnasked',
  'listForPlural',
  'listForSingular',
  'getForPlural',
  'getForSingular',
  'headInName',
  'headInLead',
  'serverNamed',
  'nameLength',
  'descriptionLength',
  'opposite',
  'oneWordName',
  'distinctNameCovered',
  'contrastInName',
  'contrastAnywhere',
] as const;

/** Inputs that also depend on the query's other candidates. */
export interface Standing {
  readonly lexical: number;
  readonly bestLexical: number;
  readonly lexicalRank: number;
  readonly semantic: number;
  readonly semanticRank: number;
  readonly idf: (term: number) => number;
  /** Rarity of a term among the names of the tool's server. */
  readonly siblingIdf: (term: number) => number;
  readonly similarity: Similarity;
}

/** The features of a tool, and how well it matches each term of the query, for the contrast with other candidates. */
export interface Match {
  readonly features: Float32Array;
  readonly name: Float32Array;
  readonly anywhere: Float32Array;
}

export function matchOf(question: Question, profile: Profile, standing: Standing): Match {
  const exact = exactCoverage(question, profile);
  const name = softCoverage(question, profile.nameTerms, standing);
  const lead = softCoverage(question, profile.leadTerms, standing);
  const list = profile.action === 'list' ? 1 : 0;
  const get = profile.action === 'get' ? 1 : 0;
  const both = question.action !== undefined && profile.action !== undefined;
  const same = both && question.action === profile.action;
  const readingAsked = question.action === undefined || isReading(question.action);
  const reads = profile.action === undefined || isReading(profile.action);
  const [nameTerms = [], , description = []] = profile.fields;
  const features = new Float32Array([
    ratio(standing.lexical, standing.bestLexical),
    standing.lexical / ABSOLUTE_LEXICAL,
    1 / (1 + standing.lexicalRank),
    standing.semantic,
    1 / (1 + standing.semanticRank),
    exact.name,
    exact.server,
    exact.lead,
    exact.description,
    exact.parameters,
    exact.parameterTexts,
    exact.anywhere,
    name.ownExact,
    name.own,
    lead.own,
    name.asked,
    lead.asked,
    pairShare(question, profile),
    same ? 1 : 0,
    both && !same ? 1 : 0,
    readingAsked && !reads ? 1 : 0,
    question.plural ? list : 0,
    question.plural ? 0 : list,
    question.plural ? get : 0,
    question.plural ? 0 : get,
    name.head,
    lead.head,
    serverNamed(question, profile),
    Math.log1p(nameTerms.length) / 3,
    Math.log1p(description.length) / 6,
    opposite(question, profile),
    profile.nameTerms.length === 1 ? name.own : 0,
    name.distinct,
    // Set by addContrast.
    0,
    0,
  ]);
  const anywhere = name.best.map((alike, i) =>
    Math.max(alike, lead.best[i] as number, elsewhere(question, profile, i)),
  );
  return { features, name: name.best, anywhere };
}

/** A term that only the rest of the description or the parameters contain. */
const ELSEWHERE = 0.6;

function elsewhere({ terms }: Question, { where }: Profile, i: number): number {
  return where.has(terms[i] as number) ? ELSEWHERE : 0;
}

const CONTRAST_IN_NAME: number = FEATURES.indexOf('contrastInName');
const CONTRAST_ANYWHERE: number = FEATURES.indexOf('contrastAnywhere');

/**
 * Sets the features that compare candidates: coverage of the query in which a term that every candidate matches has no
 * weight, so that the terms which distinguish siblings decide.
 */
export function addContrast({ weights }: Question, matches: readonly Match[]): void {
  const contrast = Float64Array.from(weights, (weight, i) => {
    let sum = 0;
    for (const { anywhere } of matches) sum += anywhere[i] as number;
    return weight * (1 - sum / matches.length);
  });
  const total = contrast.reduce((sum, x) => sum + x, 0);
  for (const { features, name, anywhere } of matches) {
    for (let i = 0; i < contrast.length; i++) {
      const weight = ratio(contrast[i] as number, total);
      features[CONTRAST_IN_NAME] = (features[CONTRAST_IN_NAME] as number) + weight * (name[i] as number);
      features[CONTRAST_ANYWHERE] =
        (features[CONTRAST_ANYWHERE] as number) + weight * (anywhere[i] as number);
    }
  }
}

/** 1 if the tool's name or its description's start has the opposite of a term of the query, but not the term. */
function opposite({ opposites }: Question, { where }: Profile): number {
  for (const { term, others } of opposites) {
    if (((where.get(term) ?? 0) & (IN_NAME | IN_LEAD)) !== 0) continue;
    for (const other of others) if (((where.get(other) ?? 0) & IN_NAME) !== 0) return 1;
  }
  return 0;
}

/** Approximate score of a very good match; scales the feature to about 1. */
const ABSOLUTE_LEXICAL = 40;

/** Computes the share of the query, weighted by rarity, that each part of the tool contains. */
function exactCoverage({ terms, weights }: Question, { where }: Profile) {
  const covered = {
    name: 0,
    server: 0,
    lead: 0,
    description: 0,
    parameters: 0,
    parameterTexts: 0,
    anywhere: 0,
  };
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i] as number;
    const weight = weights[i] as number;
    const places = where.get(term) ?? 0;
    if (places & IN_NAME) covered.name += weight;
    if (places & IN_SERVER) covered.server += weight;
    if (places & IN_LEAD) covered.lead += weight;
    if (places & IN_DESCRIPTION) covered.description += weight;
    if (places & IN_PARAMETERS) covered.parameters += weight;
    if (places & IN_PARAMETER_TEXTS) covered.parameterTexts += weight;
    if (places) covered.anywhere += weight;
  }
  return covered;
}

/**
 * Coverage in both directions by word similarity: `asked` is the share of the query covered by the tool's terms; `own`
 * is the share of the tool's terms covered by the query. `ownExact` is `own` by equal terms only, `distinct` is `own` by
 * rarity among siblings, `head` is `asked` for the query's object, `best` the best match of each term of the query.
 */
function softCoverage(
  { weights, head }: Question,
  terms: readonly number[],
  { idf, siblingIdf, similarity }: Standing,
) {
  const best = new Float32Array(weights.length);
  let total = 0;
  let own = 0;
  let ownExact = 0;
  let distinct = 0;
  let distinctTotal = 0;
  for (const term of terms) {
    const row = similarity.row(term);
    const alikes = similarity.values;
    let most = 0;
    for (let i = 0; i < best.length; i++) {
      const alike = alikes[row + i] as number;
      if (alike > most) most = alike;
      if (alike > (best[i] as number)) best[i] = alike;
    }
    const rarity = idf(term);
    total += rarity;
    own += rarity * most;
    if (most === 1) ownExact += rarity;
    const distinction = siblingIdf(term);
    distinctTotal += distinction;
    distinct += distinction * most;
  }
  let asked = 0;
  for (let i = 0; i < best.length; i++) asked += (weights[i] as number) * (best[i] as number);
  let headTotal = 0;
  let headCovered = 0;
  for (const i of head) {
    headTotal += weights[i] as number;
    headCovered += (weights[i] as number) * (best[i] as number);
  }
  return {
    asked,
    own: ratio(own, total),
    ownExact: ratio(ownExact, total),
    head: ratio(headCovered, headTotal),
    distinct: ratio(distinct, distinctTotal),
    best,
  };
}

/** From this many pairs on, a query is long, and sharing a few of them is enough. */
const ENOUGH_PAIRS = 4;

function pairShare({ pairs }: Question, profile: Profile): number {
  let shared = 0;
  for (const pair of pairs) if (profile.pairs.has(pair)) shared++;
  return Math.min(1, ratio(shared, Math.min(ENOUGH_PAIRS, pairs.length)));
}

function serverNamed({ terms }: Question, { fields }: Profile): number {
  const server = fields[1] ?? [];
  let hits = 0;
  for (const term of server) if (terms.includes(term)) hits++;
  return ratio(hits, server.length);
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
