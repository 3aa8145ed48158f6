/** Reads `glossary.txt` and writes it as the lines that `src/catalog/search/glossary.ts` reads. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './project.mjs';

const LANGUAGES = ['de', 'es', 'fr', 'pt', 'zh', 'ja'];
const UNSPACED = new Set(['zh', 'ja']);

export function glossaryLines(wordsOf) {
  const english = new Map();
  for (const line of readFileSync(join(PROJECT, 'tools', 'search', 'glossary.txt'), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [head, ...columns] = line.split('|');
    columns.forEach((column, i) => {
      for (const word of column.split(','))
        for (const key of spellings(word, LANGUAGES[i], wordsOf)) add(key, head);
    });
  }
  return [...english].map(([key, words]) => `${key}\t${[...words].join(' ')}`).join('\n');

  function add(key, words) {
    if (!english.has(key)) english.set(key, new Set());
    for (const word of words.split(' ')) english.get(key).add(word);
  }
}

/** A word as a query is split, and for German also with two letters for an umlaut. */
function spellings(word, language, wordsOf) {
  if (UNSPACED.has(language)) return [`${language}\t${word.normalize('NFKC')}`];
  const forms = [word];
  if (language === 'de' && /[äöüß]/.test(word)) {
    const two = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };
    forms.push(word.replaceAll(/[äöüß]/g, (letter) => two[letter]));
  }
  return forms.map((form) => `${language}\t${wordsOf(form).join(' ')}`);
}
