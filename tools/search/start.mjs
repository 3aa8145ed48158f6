/** Which terms get a vector, and where the vectors start: GloVe's for the words it knows, their company for the rest. */

/** What fits into the asset. */
const MAX_TERMS = 32_000;
/** A word that GloVe does not know has to occur so often to be worth a vector. */
const MIN_COUNT = 3;
/** How soon a frequent word starts to count for less. */
const FREQUENT = 1e-3;

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
  const wanted = [...counts.keys()].filter((t) => general.has(t) || counts.get(t) >= MIN_COUNT);
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
    const weight = FREQUENT / (FREQUENT + p);
    for (let k = 0; k < dimensions; k++) values[id * dimensions + k] = vector[k] * weight;
  }
  fillUnknown({ documents, ids, values, general, dimensions });
  return { terms, ids, values };
}

function gloveByTerm(glove, dimensions, analyse) {
  const sums = new Map();
  for (let i = 0; i < glove.words.length; i++) {
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
