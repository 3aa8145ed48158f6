/** Tables of what the code says in comments: error codes and events, each explained where it is declared. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';
import { table } from './table.mjs';

/** Where events are declared, in the order of the table. */
const EVENT_SOURCES = ['src/host/host-options.ts', 'src/call/call.ts', 'src/connection/open-questions.ts'];

const COMMENTED = /^ {2}\/\*\*\s((?:(?!\*\/)[\s\S])*)\*\/\n {2}(?:readonly )?'?([\w.]+)'?: (.*)/gm;

/** What a comment above a member says, its name, and the rest of its line. */
function commented(text) {
  return [...text.matchAll(COMMENTED)].map(([, comment, name, rest]) => ({
    words: comment
      .replaceAll(/^\s*\* ?/gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    name,
    rest,
  }));
}

function block(file, begin) {
  const text = readFileSync(join(root, file), 'utf8');
  const from = text.indexOf(begin);
  return text.slice(from, text.indexOf('\n}', from));
}

/** The first sentence says what a code means, the others what to do. */
export function errorTable() {
  const rows = commented(block('src/errors.ts', 'export const EXIT_STATUS')).map(({ words, name, rest }) => {
    const [means = '', ...remedy] = words.split(/(?<=\.) (?=[A-Z`])/);
    return [`\`${name}\``, rest.replace(',', ''), means, remedy.join(' ')];
  });
  return table([['code', 'exit', 'means', 'do'], ...rows]);
}

export function eventTable() {
  const rows = EVENT_SOURCES.flatMap((file) => {
    const [, name] = readFileSync(join(root, file), 'utf8').match(/export interface (\w+Events)/);
    return commented(block(file, `export interface ${name}`));
  });
  return table([['event', 'carries'], ...rows.map(({ words, name }) => [`\`${name}\``, words])]);
}
