/**
 * Learns the word vectors of tool search. They start from general ones (GloVe) and are moved, by a contrastive loss,
 * so that what is asked and what answers it lie close: a tool's name and its description, two phrases of the
 * thesaurus, a query and the tool it was labelled with.
 */

import { random } from './data.mjs';

const MAX_TERMS = 24_000;
/** Of GloVe's words by frequency: past this, rare names. */
const GLOVE_WORDS = 60_000;
const BATCH = 160;
const BLOCK = 16;
const TEMPERATURE = 0.07;
const LEARNING_RATE = 0.03;
/** How strongly a word is held where it started; what no text moves stays comparable with what moved. */
const PULL_TO_START = 0.02;
const HARD_NEGATIVES = 2;

/** Which terms get a vector, and where they start. */
export function startVectors({ documents, queries, glove, dimensions, analyse }) {
  const counts = new Map();
  let total = 0;
  for (const fields of documents) {
    for (const term of fields.flat()) {
      counts.set(term, (counts.get(term) ?? 0) + 1);
      total++;
    }
  }
  for (const terms of queries) for (const term of terms) if (!counts.has(term)) counts.set(term, 0);
  const general = gloveByTerm(glove, dimensions, analyse);
  const wanted = [...counts.keys()].filter((t) => general.has(t) || counts.get(t) >= 3);
  wanted.sort((a, b) => counts.get(b) - counts.get(a));
  const kept = new Set(wanted.slice(0, MAX_TERMS));
  for (const term of general.keys()) if (kept.size < MAX_TERMS) kept.add(term);
  const terms = [...kept].sort();
  const ids = new Map(terms.map((term, i) => [term, i]));
  const values = new Float32Array(terms.length * dimensions);
  for (const [term, id] of ids) {
    const vector = general.get(term);
    if (!vector) continue;
    const p = ((counts.get(term) ?? 0) + 1) / total;
    const weight = 1e-3 / (1e-3 + p);
    for (let k = 0; k < dimensions; k++) values[id * dimensions + k] = vector[k] * weight;
  }
  fillUnknown({ documents, ids, values, general, dimensions });
  return { terms, ids, values };
}

function gloveByTerm(glove, dimensions, analyse) {
  const sums = new Map();
  for (let i = 0; i < Math.min(GLOVE_WORDS, glove.words.length); i++) {
    if (!/^[a-z][a-z0-9]+$/.test(glove.words[i])) continue;
    const [term, ...more] = analyse(glove.words[i]);
    if (term === undefined || more.length > 0) continue;
    const sum = sumOf(sums, term, dimensions);
    const weight = 1 / (i + 20);
    for (let k = 0; k < dimensions; k++) sum[k] += weight * glove.values[i * dimensions + k];
  }
  const mean = new Float32Array(dimensions);
  for (const v of sums.values()) {
    normalise(v);
    for (let k = 0; k < dimensions; k++) mean[k] += v[k] / sums.size;
  }
  for (const v of sums.values()) {
    for (let k = 0; k < dimensions; k++) v[k] -= mean[k];
    normalise(v);
  }
  return sums;
}

/** A word that GloVe does not know starts at the mean of the words it stands beside. */
function fillUnknown({ documents, ids, values, general, dimensions }) {
  const sums = new Map();
  for (const fields of documents) {
    const terms = [...new Set([...fields[0], ...fields[2]])].slice(0, 60);
    const context = new Float32Array(dimensions);
    for (const term of terms) {
      const id = ids.get(term);
      if (id === undefined || !general.has(term)) continue;
      for (let k = 0; k < dimensions; k++) context[k] += values[id * dimensions + k];
    }
    normalise(context);
    for (const term of terms) {
      if (general.has(term) || !ids.has(term)) continue;
      const sum = sumOf(sums, term, dimensions);
      for (let k = 0; k < dimensions; k++) sum[k] += context[k];
    }
  }
  for (const [term, sum] of sums) {
    normalise(sum);
    const id = ids.get(term);
    for (let k = 0; k < dimensions; k++) values[id * dimensions + k] = 0.6 * sum[k];
  }
}

function sumOf(sums, key, dimensions) {
  const known = sums.get(key);
  if (known) return known;
  const sum = new Float32Array(dimensions);
  sums.set(key, sum);
  return sum;
}

function normalise(v) {
  let n = 0;
  for (const x of v) n += x * x;
  n = Math.sqrt(n) || 1;
  for (let k = 0; k < v.length; k++) v[k] /= n;
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

const evenly = (terms) => new Map(terms.map((term) => [term, 1]));

/** A made-up question for a tool and the tool without what the question was made of. */
function selfPair(fields, firstSentence, next) {
  const [name, server, description, parameters, parameterTexts] = fields;
  const kind = next();
  if (kind < 0.4 || firstSentence.length < 2) {
    const query = next() < 0.4 ? [...name, ...server] : name;
    return [query, [next() < 0.3 ? name : [], server, description, parameters, parameterTexts]];
  }
  if (kind < 0.8) {
    const query = firstSentence.filter(() => next() < 0.7);
    const gone = new Set(next() < 0.5 ? firstSentence : []);
    return [query, [name, server, description.filter((t) => !gone.has(t)), parameters, parameterTexts]];
  }
  const all = [...new Set([...name, ...description, ...parameters])];
  const query = all.filter(() => next() < Math.min(0.5, 6 / all.length));
  const gone = new Set(query.filter(() => next() < 0.5));
  return [query, fields.map((terms) => terms.filter((t) => !gone.has(t)))];
}

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
  labelRepeats,
  seed,
  log,
}) {
  const next = random(seed);
  const { ids } = start;
  const model = {
    dimensions,
    values: start.values.slice(),
    start: start.values,
    squares: new Float32Array(start.terms.length),
  };
  const share = (fields) => bag(termShares(fields), ids);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const rate = LEARNING_RATE * (1 - epoch / epochs) + 0.1 * LEARNING_RATE;
    let loss = 0;
    const batches = [];
    for (const chunk of chunks(
      blocksBy(tools, (t) => t.server, next),
      BATCH,
    ))
      batches.push(['tools', chunk]);
    for (let r = 0; r < labelRepeats; r++) {
      for (const chunk of chunks(
        blocksBy(labelled, (l) => l.catalog, next),
        BATCH >> 1,
      ))
        batches.push(['labelled', chunk]);
    }
    for (let r = 0; r < 4; r++)
      for (const chunk of chunks(shuffle([...thesaurus], next), BATCH)) batches.push(['thesaurus', chunk]);
    for (const [kind, chunk] of shuffle(batches, next)) {
      const queries = [];
      const answers = [];
      const targets = [];
      for (const item of chunk) {
        let query;
        let answer;
        if (kind === 'tools') [query, answer] = selfPair(item.fields, item.firstSentence, next);
        else if (kind === 'labelled') {
          query = item.terms.filter(() => next() < 0.9);
          answer = item.relevant[Math.floor(next() * item.relevant.length)];
        } else {
          const phrase = Math.floor(next() * item.length);
          query = item[phrase];
          answer = [item.filter((_p, i) => i !== phrase && next() < 0.5).flat(), [], [], [], []];
        }
        const q = bag(evenly([...new Set(query)]), ids);
        const a = share(answer);
        if (q.rows.length === 0 || a.rows.length === 0) continue;
        queries.push(q);
        answers.push(a);
        targets.push(item);
      }
      if (kind === 'labelled') {
        for (const item of chunk) {
          for (let n = 0; n < HARD_NEGATIVES && item.negatives.length > 0; n++) {
            answers.push(share(item.negatives[Math.floor(next() * item.negatives.length)]));
            targets.push({ negativeOf: item });
          }
        }
      }
      if (queries.length > 1)
        loss += step(model, queries, answers, (i, j) => falseNegative(targets[i], targets[j]), rate);
    }
    log?.(`epoch ${epoch + 1}/${epochs}: loss ${(loss / batches.length).toFixed(3)}`);
  }
  return model.values;
}

/** A tool that the query is labelled with, too, is not a wrong answer to it. */
function falseNegative(query, other) {
  return (
    query.relevant !== undefined &&
    other.relevant !== undefined &&
    query.relevant.some((r) => other.relevant.includes(r))
  );
}

/** One step down the InfoNCE loss: each query against every answer of the batch. */
function step(model, queries, answers, masked, rate) {
  const { dimensions: D } = model;
  const Q = queries.map((b) => embed(model, b));
  const A = answers.map((b) => embed(model, b));
  const gradQ = Q.map(() => new Float32Array(D));
  const gradA = A.map(() => new Float32Array(D));
  let loss = 0;
  const logits = new Float32Array(A.length);
  for (let i = 0; i < Q.length; i++) {
    const q = Q[i].unit;
    let max = -Infinity;
    for (let j = 0; j < A.length; j++) {
      const a = A[j].unit;
      let dot = 0;
      for (let k = 0; k < D; k++) dot += q[k] * a[k];
      logits[j] = j !== i && masked(i, j) ? -Infinity : dot / TEMPERATURE;
      if (logits[j] > max) max = logits[j];
    }
    let sum = 0;
    for (let j = 0; j < A.length; j++) sum += Math.exp(logits[j] - max);
    loss -= logits[i] - max - Math.log(sum);
    for (let j = 0; j < A.length; j++) {
      const p = Math.exp(logits[j] - max) / sum;
      const g = (p - (i === j ? 1 : 0)) / TEMPERATURE;
      if (Math.abs(g) < 1e-3) continue;
      const a = A[j].unit;
      const gq = gradQ[i];
      const ga = gradA[j];
      for (let k = 0; k < D; k++) {
        gq[k] += g * a[k];
        ga[k] += g * q[k];
      }
    }
  }
  const rows = new Map();
  for (let i = 0; i < Q.length; i++) spread(rows, queries[i], Q[i], gradQ[i], D, 1 / Q.length);
  for (let j = 0; j < A.length; j++) spread(rows, answers[j], A[j], gradA[j], D, 1 / Q.length);
  for (const [row, gradient] of rows) update(model, row, gradient, rate);
  return loss / Q.length;
}

function embed({ values, dimensions: D }, { rows, weights }) {
  const unit = new Float32Array(D);
  for (let r = 0; r < rows.length; r++) {
    const at = rows[r] * D;
    const w = weights[r];
    for (let k = 0; k < D; k++) unit[k] += w * values[at + k];
  }
  let norm = 0;
  for (let k = 0; k < D; k++) norm += unit[k] * unit[k];
  norm = Math.sqrt(norm) || 1e-6;
  for (let k = 0; k < D; k++) unit[k] /= norm;
  return { unit, norm };
}

/** The gradient of a unit vector, handed on to the rows that it was made of. */
function spread(rows, { rows: own, weights }, { unit, norm }, gradient, D, scale) {
  let along = 0;
  for (let k = 0; k < D; k++) along += gradient[k] * unit[k];
  for (let k = 0; k < D; k++) gradient[k] = ((gradient[k] - along * unit[k]) / norm) * scale;
  for (let r = 0; r < own.length; r++) {
    const sum = sumOf(rows, own[r], D);
    for (let k = 0; k < D; k++) sum[k] += weights[r] * gradient[k];
  }
}

/** Adagrad with one rate a word, and a pull towards where the word started. */
function update({ values, start, squares, dimensions: D }, row, gradient, rate) {
  let square = 0;
  for (let k = 0; k < D; k++) square += gradient[k] * gradient[k];
  squares[row] += square / D;
  const step = rate / (Math.sqrt(squares[row]) + 1e-4);
  const at = row * D;
  for (let k = 0; k < D; k++) {
    values[at + k] -= step * gradient[k] + rate * PULL_TO_START * (values[at + k] - start[at + k]);
  }
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

export function shuffle(items, next) {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [items[i], items[j]] = [items[j], items[i]];
  }
  return items;
}
