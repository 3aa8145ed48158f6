import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/catalog/search/split-words.ts';
import { stem } from '../../../src/catalog/search/stem.ts';
import { termsOf, Vocabulary } from '../../../src/catalog/search/terms.ts';

describe('words of names and texts', () => {
  it.each([
    ['list_open_issues', ['list', 'open', 'issues']],
    ['listOpenIssues', ['list', 'open', 'issues']],
    ['list-open.issues/v2', ['list', 'open', 'issues', 'v2']],
    ['getHTTPResponse', ['get', 'http', 'response']],
    ['getURLs', ['get', 'urls']],
    ['HTMLParser listVMs', ['html', 'parser', 'list', 'vms']],
    ['createGitHubIssue', ['create', 'github', 'issue']],
    ['GitHub and PostgreSQL', ['github', 'and', 'postgresql']],
    ['s3 base64 k8s', ['s3', 'base64', 'k8s']],
    ['Café Zürich', ['cafe', 'zurich']],
    ['查询天气', ['查询', '询天', '天气']],
    ['用GitHub登录', ['用', 'github', '登录']],
    ['создать файл', ['создать', 'файл']],
    ['🙂 --', []],
  ])('%s', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('every text of any alphabet gives words that give themselves', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        for (const word of wordsOf(text)) {
          expect(word).not.toBe('');
          expect(word).toBe(word.toLowerCase());
        }
      }),
    );
  });
});

describe('stems', () => {
  it.each([
    ['creating', 'creat'],
    ['created', 'creat'],
    ['creates', 'creat'],
    ['queries', 'queri'],
    ['query', 'queri'],
    ['running', 'run'],
    ['directories', 'directori'],
    ['authorization', 'author'],
    ['relational', 'relat'],
    ['caresses', 'caress'],
    ['файлы', 'файлы'],
    ['vm2s', 'vm2s'],
    ['is', 'is'],
  ])('%s → %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it('a text gives its stems without stop words, in order', () => {
    expect(termsOf('Please show me all the queries of my database')).toEqual(['show', 'queri', 'databas']);
  });
});

describe('the vocabulary of an index', () => {
  /** A text read by a vocabulary that has read others before. */
  function readBack(text: string): string[] {
    const vocabulary = new Vocabulary();
    vocabulary.add('some other words, READ before: some');
    return vocabulary.add(text).map((id) => vocabulary.term(id));
  }

  it('reads a text as the terms that it has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 80 }), (text) => {
        expect(readBack(text)).toEqual(termsOf(text));
      }),
    );
  });

  it.each([
    'List all the GitHub issues — the user’s, too',
    '查询GitHub的天气, Café',
    'read READ Read reading',
    '',
  ])('%s', (text) => {
    expect(readBack(text)).toEqual(termsOf(text));
  });

  it('gives equal terms equal numbers and new terms the next ones', () => {
    const vocabulary = new Vocabulary();
    expect(vocabulary.add('list issues')).toEqual([0, 1]);
    expect(vocabulary.add('Listing the Issue comments')).toEqual([0, 1, 2]);
    expect(vocabulary.size).toBe(3);
  });
});
