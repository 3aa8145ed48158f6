/**
 * Checks that comments of `src/` are plain English: fails on words that the style of this project avoids.
 * `node scripts/words.mjs [file …]`; AGENTS.md has the rules.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './run.mjs';

/** Each with what to write in its place. */
const AVOIDED = [
  [/\b(?:nobody|anybody|somebody|whoever)\b/gi, 'name the person or program, or use "no one"'],
  [/\b(?:told|tells?|telling)\b/gi, 'reports, sends, returns, notifies'],
  [/\b(?:stands?|stood|standing)\b(?! for\b)/gi, 'is, runs, replaces'],
  [/\b(?:wants?|wanted)\b/gi, 'requires, requests, expects'],
  [/\banew\b/gi, 'again'],
  [/\b(?:mends?|mended|mending)\b/gi, 'fix, repair'],
  [/\bbeside\b/gi, 'next to, in addition to'],
  [/\bmeanwhile\b/gi, 'while …'],
  [/\bof ours\b/gi, 'our …'],
  [/\bany more\b/gi, 'no longer'],
  [/\b(?:be|is|are|was) had\b/gi, 'is available'],
  [/\b(?:brings?|brought|comes?) along\b/gi, 'has, includes'],
  [/\bsays? so\b/gi, 'reports it'],
  [/\bof its own accord\b/gi, 'by itself'],
];

/** Texts of comments with their line numbers, from code that biome has formatted. */
export function commentsOf(code) {
  const comments = [];
  let isBlock = false;
  for (const [index, line] of code.split('\n').entries()) {
    const starts = !isBlock && /^\s*(?:export )?\/\*/.test(line);
    if (isBlock || starts) {
      comments.push([index + 1, line]);
      isBlock = !line.includes('*/');
      continue;
    }
    const own = /(?:^|\s)\/\/ (.*)$/.exec(line);
    if (own !== null) comments.push([index + 1, own[1]]);
  }
  return comments;
}

/** One line for each avoided word. Names in `…` and quotations in "…" are allowed. */
export function findWords(code, file = '') {
  return commentsOf(code).flatMap(([line, text]) => {
    const prose = text.replaceAll(/`[^`]*`|"[^"]*"/g, ' ');
    return AVOIDED.flatMap(([pattern, instead]) =>
      [...prose.matchAll(pattern)].map(([word]) => `${file}:${line}: "${word}" (${instead})`),
    );
  });
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : filesOf(join(root, 'src')).map((file) => relative(root, file));
  const found = files.flatMap((file) => findWords(readFileSync(join(root, file), 'utf8'), file));
  for (const line of found) process.stdout.write(`${line}\n`);
  if (found.length > 0) process.stdout.write(`${found.length} words to replace\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
