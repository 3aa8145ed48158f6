/**
 * Learns the word vectors of tool search. They start from general ones and are moved, by a contrastive loss, so that what
 * is asked and what answers it lie close: a tool's name and its description, two phrases of the thesaurus, a query and
 * the tool it was labelled with.
 */

import { step } from './contrast.mjs';
import { random } from './data.mjs';

const BATCH = 160;
/** Labelled queries bring wrong answers of their own, so that fewer make a batch. */
const LABELLED_BATCH = 80;
/** So many siblings of one server stand together in a batch. */
const BLOCK = 16;
const LEARNING_RATE = 0.03;
const HARD_NEGATIVES = 2;
/** The thesaurus is small: it is gone through so many times while the tools are gone through once. */
const THESAURUS_ROUNDS = 4;

/**
 * @param tools      { server, fields, firstSentence } of every catalog
 * @param labelled   { catalog, terms, relevant: fields[], negatives: fields[] } of queries that may be learnt from
 * @param thesaurus  groups of phrases, each phrase as terms
 */
export function trainVectors({
  start,
  tools,
  labelled,
  thesaurus,
  dimensions,
  termShares,
  epochs,
  seed,
  log,
}) {
  const next = random(seed);
  const model = {
    dimensions,
    values: start.values.slice(),
    start: start.values,
    squares: new Float32Array(start.terms.length),
  };
  for (let epoch = 0; epoch < epochs; epoch++) {
    const rate = LEARNING_RATE * (1.1 - epoch / epochs);
    const batches = [
      ...chunks(
        blocksBy(tools, (t) => t.server, next),
        BATCH,
      ).map((items) => items.map((t) => toolPair(t, next))),
      ...chunks(
        blocksBy(labelled, (l) => l.catalog, next),
        LABELLED_BATCH,
      ).map((items) => labelledPairs(items, next)),
    ];
    for (let round = 0; round < THESAURUS_ROUNDS; round++) {
      for (const items of chunks(shuffle([...thesaurus], next), BATCH))
        batches.push(items.map((g) => phrasePair(g, next)));
    }
    let loss = 0;
    for (const pairs of shuffle(batches, next)) loss += learnBatch(model, pairs, start.ids, termShares, rate);
    log(`  epoch ${epoch + 1} of ${epochs}: loss ${(loss / batches.length).toFixed(3)}`);
  }
  return model.values;
}

/** Pairs without a query only add a wrong answer for the others. */
function learnBatch(model, pairs, ids, termShares, rate) {
  const asking = [];
  const wrong = [];
  for (const { query, answer, relevant } of pairs) {
    const a = bag(termShares(answer), ids);
    if (a.rows.length === 0) continue;
    if (query === undefined) wrong.push({ a, relevant });
    else {
      const q = bag(new Map(query.map((term) => [term, 1])), ids);
      if (q.rows.length > 0) asking.push({ q, a, relevant });
    }
  }
  if (asking.length < 2) return 0;
  const all = [...asking, ...wrong];
  const masked = (i, j) => falseNegative(all[i].relevant, all[j].relevant);
  return step(
    model,
    asking.map((x) => x.q),
    all.map((x) => x.a),
    masked,
    rate,
  );
}

/** A tool that the query is labelled with, too, is not a wrong answer to it. */
function falseNegative(relevant, others) {
  return relevant !== undefined && others !== undefined && relevant.some((fields) => others.includes(fields));
}

/** A bag of terms: their rows in the matrix and their weights. */
function bag(shares, ids) {
  const rows = [];
  const weights = [];
  for (const [term, weight] of shares) {
    const row = ids.get(term);
    if (row === undefined) continue;
    rows.push(row);
    weights.push(weight);
  }
  return { rows, weights };
}

/** A made-up question for a tool and the tool without what the question was made of. */
function toolPair({ fields, firstSentence }, next) {
  const [name, server, description, parameters, parameterTexts] = fields;
  const kind = next();
  if (kind < 0.4 || firstSentence.length < 2) {
    const query = next() < 0.4 ? [...name, ...server] : name;
    return { query, answer: [next() < 0.3 ? name : [], server, description, parameters, parameterTexts] };
  }
  if (kind < 0.8) {
    const query = firstSentence.filter(() => next() < 0.7);
    const gone = new Set(next() < 0.5 ? firstSentence : []);
    return {
      query,
      answer: [name, server, description.filter((t) => !gone.has(t)), parameters, parameterTexts],
    };
  }
  const all = [...new Set([...name, ...description, ...parameters])];
  const query = all.filter(() => next() < Math.min(0.5, 6 / all.length));
  const gone = new Set(query.filter(() => next() < 0.5));
  return { query, answer: fields.map((terms) => terms.filter((t) => !gone.has(t))) };
}

/** Queries with one of their answers each, and wrong answers that share words with them. */
function labelledPairs(items, next) {
  const pick = (from) => from[Math.floor(next() * from.length)];
  const pairs = items.map(({ terms, relevant }) => ({
    query: terms.filter(() => next() < 0.9),
    answer: pick(relevant),
    relevant,
  }));
  for (const { negatives } of items) {
    for (let n = 0; n < HARD_NEGATIVES && negatives.length > 0; n++) {
      const answer = pick(negatives);
      pairs.push({ query: undefined, answer, relevant: [answer] });
    }
  }
  return pairs;
}

/** One phrase of a group, and some of the others. */
function phrasePair(group, next) {
  const chosen = Math.floor(next() * group.length);
  const others = group.filter((_phrase, i) => i !== chosen && next() < 0.5);
  return { query: group[chosen], answer: [others.flat(), [], [], [], []] };
}

/** Items in random order, but neighbours share a key: in a batch, siblings are each other's wrong answers. */
function blocksBy(items, key, next) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  const blocks = [];
  for (const group of groups.values()) blocks.push(...chunks(shuffle(group, next), BLOCK));
  return shuffle(blocks, next).flat();
}

function chunks(items, size) {
  const out = [];
  for (let i = 0; i < items.length; i += size) out.push(items.slice(i, i + size));
  return out;
}

function shuffle(items, next) {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [items[i], items[j]] = [items[j], items[i]];
  }
  return items;
}
