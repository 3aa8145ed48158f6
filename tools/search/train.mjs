/**
 * Learns what tool search knows and writes `assets/tool-search.bin`.
 *
 *   node tools/search/train.mjs [data folder]
 *
 * Word vectors are learnt once for each fold without the tools and queries of that fold's servers; the features of a fold's
 * queries are measured with vectors that never saw their server. The ranker and the estimate of certainty learn from those,
 * and the figures printed are of servers held out from all. The vectors that ship are then learnt from everything. With
 * `--held-out` it only prints the figures.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certaintyRows, reportCertainty, trainCertainty } from './certainty.mjs';
import { leftOut, loadCorpus, PARTS } from './corpus.mjs';
import { DEFAULT_DATA } from './data.mjs';
import { encodeModel, quantise } from './encode.mjs';
import { glossaryLines } from './glossary.mjs';
import { GLOVE_DIMENSIONS, loadGlove } from './glove.mjs';
import { measure, measureUnanswerable, reportHeldOut, weigh } from './lists.mjs';
import { importSearch, PROJECT } from './project.mjs';
import { trainRanker } from './ranker.mjs';
import { startVectors } from './start.mjs';
import { trainVectors } from './vectors.mjs';

const FOLDS = 5;
const SEED = 7;
/** Vectors are the mean of these many runs, which differ in their order of batches: better on held-out targets than each. */
const RUNS = 2;
const FOLD_RUNS = 1;
const EPOCHS = 6;
/** What the sets count that look less like what a host sees. */
const ROOMY = { others: 0.3, evenness: 0.75 };
const CROWDED = { others: 1, evenness: 0.5 };

const quick = process.argv.includes('--held-out');
const data = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? DEFAULT_DATA;
const log = (line) => console.error(line);
const src = await importSearch(
  'split-words.ts',
  'terms.ts',
  'search-fields.ts',
  'bm25f.ts',
  'word-vectors.ts',
  'term-shares.ts',
  'features.ts',
  'confidence.ts',
  'matcher.ts',
);
/** Few queries of the sets have an opposite among the tools: an opposite never helps, whatever these few teach. */
const limits = src.FEATURES.map((feature) => (feature === 'opposite' ? -1 : Infinity));
const corpus = loadCorpus(data, src, FOLDS);
const glove = loadGlove();
log(
  `${corpus.tools.length} tools, ${corpus.queries.length} queries, ${corpus.thesaurus.length} groups of synonyms`,
);
const numbers = new src.Vocabulary();
for (const term of [...corpus.tools.map((tool) => tool.fields), corpus.thesaurus].flat(3))
  numbers.addTerm(term);
const sheet = new src.TermShares(numbers.size);

const roomy = [];
const unanswerable = [];
const crowded = [];
for (let fold = 0; fold < FOLDS; fold++) {
  const isLeftOut = leftOut(corpus, fold);
  const { vectors } = learnVectors({
    tools: corpus.tools.filter((tool) => !isLeftOut(tool)),
    labelled: corpus.labelled.filter((l) => !l.folds.has(fold)),
    runs: FOLD_RUNS,
  });
  const measured = { queries: corpus.queries, catalogs: corpus.catalogs, vectors, fold, src, seed: SEED };
  roomy.push(...measure({ ...measured, distractors: [] }));
  unanswerable.push(...measureUnanswerable({ ...measured, distractors: [] }));
  if (!quick) crowded.push(...measure({ ...measured, distractors: corpus.catalogs.toucan }));
  log(`fold ${fold + 1} of ${FOLDS} measured`);
}
const known = [];
for (let part = 0; part < PARTS && !quick; part++) {
  const { vectors } = learnVectors({
    tools: corpus.tools,
    labelled: corpus.labelled.filter((l) => l.part !== part),
    runs: FOLD_RUNS,
  });
  const queries = corpus.queries.map((q) => ({ ...q, fold: q.part }));
  known.push(
    ...measure({ queries, catalogs: corpus.catalogs, vectors, fold: part, src, seed: SEED, distractors: [] }),
  );
}
weigh(known, ROOMY);
weigh(roomy, ROOMY);
weigh(unanswerable, ROOMY);
const heldOut = reportHeldOut('servers left out', roomy, (list) => list.query.fold, {
  seed: SEED,
  log,
  limits,
});
const certainty = heldOut.flatMap(({ held, weights }) =>
  certaintyRows(
    [...roomy, ...unanswerable].filter((list) => list.query.fold === held),
    weights,
    src.confidenceInputs,
  ),
);
reportCertainty(certainty, { log, probability: src.probability });
if (quick) process.exit(0);
weigh(crowded, CROWDED);
reportHeldOut('servers left out, 15,000 more tools', crowded, (list) => list.query.fold, {
  seed: SEED,
  log,
  limits,
});

const bytes = encodeModel({
  ...learnVectors({ tools: corpus.tools, labelled: corpus.labelled, runs: RUNS }),
  confidence: trainCertainty(certainty),
  glossary: Buffer.from(glossaryLines(src.wordsOf)),
  features: src.FEATURES,
  // Also fitted to unseen tools of known servers, as a user has them after an update of the training data.
  weights: trainRanker({ lists: [...roomy, ...known], seed: SEED, limits }),
  crowdedWeights: trainRanker({ lists: crowded, seed: SEED, limits }),
});
mkdirSync(join(PROJECT, 'assets'), { recursive: true });
writeFileSync(join(PROJECT, 'assets', 'tool-search.bin'), bytes);
log(`assets/tool-search.bin: ${(bytes.length / 1e6).toFixed(2)} MB`);

/** The shares of a tool's terms as an index counts them, for terms that are words here and numbers there. */
function termShares(fields) {
  sheet.fill(fields.map((terms) => terms.map((term) => numbers.addTerm(term))));
  return Array.from({ length: sheet.size }, (_x, i) => [numbers.term(sheet.terms[i]), sheet.shares[i]]);
}

function learnVectors({ tools, labelled, runs }) {
  const start = startVectors({
    documents: tools.map((tool) => tool.fields),
    queries: labelled.map((l) => l.terms),
    glove,
    dimensions: GLOVE_DIMENSIONS,
    analyse: src.termsOf,
  });
  const sum = new Float32Array(start.values.length);
  for (let run = 0; run < runs; run++) {
    const values = trainVectors({
      start,
      tools,
      labelled,
      thesaurus: corpus.thesaurus,
      dimensions: GLOVE_DIMENSIONS,
      termShares,
      epochs: EPOCHS,
      seed: SEED + run,
      log: quick ? () => undefined : log,
    });
    for (let i = 0; i < sum.length; i++) sum[i] += values[i] / runs;
  }
  return { vectors: quantise(start.terms, sum, GLOVE_DIMENSIONS), terms: start.terms };
}
