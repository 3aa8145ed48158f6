/** Where a bench puts its figures when somebody collects them: a line of JSON each, in the file that BENCH_RECORDS names. */

import { appendFileSync } from 'node:fs';

/**
 * One figure of one contender: `{ measure, name, value, unit, spread?, ratio?, base? }`. Nothing happens when a bench
 * is run by itself.
 */
export function record(figure) {
  const { BENCH_RECORDS: file } = process.env;
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(figure)}\n`);
}
