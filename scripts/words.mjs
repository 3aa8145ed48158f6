/**
 * Checks that texts of code and pages are plain English: fails on words that the style of this project avoids, and on messages of another
 * form. `node scripts/words.mjs [file …]` checks; `--report [folder …]` prints every finding by folder and does not
 * fail. AGENTS.md has the rules.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './run.mjs';
import {
  messageBuilders,
  parsed,
  shadowedNames,
  styleOfMessages,
  testNames,
  wordsInStrings,
} from './words-code.mjs';

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

/** Findings in parsed code: `kind` is the check that found it, `text` is one line with the file. */
export function findInCode(source, file, builders = new Map()) {
  const checks = file.startsWith('test/')
    ? [
        ['test names', testNames(source, AVOIDED)],
        ['shadowed', shadowedNames(source)],
      ]
    : [
        ['words', wordsInStrings(source, AVOIDED)],
        ['messages', styleOfMessages(source, builders)],
      ];
  return checks.flatMap(([kind, found]) =>
    found.map(([line, word, instead]) => ({ kind, text: `${file}:${line}: "${word}" (${instead})` })),
  );
}

/** Avoided on pages in addition to {@link AVOIDED}. */
const AVOIDED_ON_PAGES = [
  [/\b(?:takes?|took|taken|taking) over\b/gi, 'imports, replaces'],
  [/\bas it stands\b/gi, 'as it is'],
  [/\bthe like\b/gi, 'list them, or "similar"'],
  [/(?<=^|[.!?] )What\b(?![^.]*\?)/g, 'name the noun'],
];

const PAGE_FOLDERS = ['.', 'docs', 'bench', 'examples'];
/** Pages whose text is in tests, in comments of the code or in the specification. */
const WRITTEN_ELSEWHERE = /^docs\/(?:protocol|surfaces|effort|attacks\/.*|api\/.*)\.md$/;

/** One line for each avoided word in the prose of a page: outside of code, quotations, comments and generated tables. */
export function findPageWords(text, file = '') {
  const blank = (part) => part.replaceAll(/[^\n]/g, ' ');
  const prose = text
    .replaceAll(/^<!-- generated: [\s\S]*?^<!-- \/generated -->$/gm, blank)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->|`[^`\n]*`|"[^"\n]*"|\]\([^)\n]*\)/g, blank);
  return prose
    .split('\n')
    .flatMap((line, index) =>
      [...AVOIDED, ...AVOIDED_ON_PAGES].flatMap(([pattern, instead]) =>
        [...line.matchAll(pattern)].map(([word]) => `${file}:${index + 1}: "${word}" (${instead})`),
      ),
    );
}

function pagesIn(folder) {
  return readdirSync(join(root, folder), { recursive: folder === 'docs' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.md') && !WRITTEN_ELSEWHERE.test(file));
}

function filesOf(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|tsx|js)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => !file.startsWith('test/fixtures/'));
}

/** The test of this check quotes comments that it finds. */
const hasComments = (file) => /^(?:src|test|page)\//.test(file) && file !== 'test/words.test.ts';

function main(given) {
  const isReport = given[0] === '--report';
  const files = ['src', 'page', 'test'].flatMap(filesOf);
  const code = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const sources = new Map(files.map((file) => [file, parsed(code.get(file), file)]));
  const builders = new Map([...sources.values()].flatMap(messageBuilders));
  const places = isReport ? given.slice(1) : given;
  const isAsked = (file) =>
    places.length === 0 ||
    places.some((place) => file === place || file.startsWith(`${place.replace(/\/$/, '')}/`));
  const found = files.filter(isAsked).flatMap((file) => [
    ...(hasComments(file) ? findWords(code.get(file), file) : []).map((text) => ({
      kind: 'comments',
      text,
    })),
    ...findInCode(sources.get(file), file, builders),
  ]);
  for (const file of PAGE_FOLDERS.flatMap(pagesIn).filter(isAsked))
    for (const text of findPageWords(readFileSync(join(root, file), 'utf8'), file))
      found.push({ kind: 'pages', text });
  for (const { kind, text } of found) process.stdout.write(`${text} [${kind}]\n`);
  if (isReport) process.stdout.write(summary(found));
  else if (found.length > 0) process.stdout.write(`${found.length} texts to rewrite\n`);
  process.exitCode = isReport || found.length === 0 ? 0 : 1;
}

/** How many findings each folder has, by kind. */
function summary(found) {
  const counts = new Map();
  for (const { kind, text } of found) {
    const key = `${dirname(text.split(':')[0])}\t${kind}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, count]) => `${count}\t${key}\n`);
  return `\n${rows.join('')}${found.length}\tin all\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
