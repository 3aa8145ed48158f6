/** The contrastive loss over bags of words: one step that draws queries to their answers and away from the others'. */

const TEMPERATURE = 0.07;
/** How strongly a word is held where it started; what no text moves stays comparable with what moved. */
const PULL_TO_START = 0.02;

/** One step down the InfoNCE loss: each query against every answer of the batch. */
export function step(model, queries, answers, masked, rate) {
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

function sumOf(sums, key, dimensions) {
  const known = sums.get(key);
  if (known) return known;
  const sum = new Float32Array(dimensions);
  sums.set(key, sum);
  return sum;
}
