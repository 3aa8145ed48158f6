import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRule, type RuleSubject } from '../../src/policy/rule-conditions.ts';
import '../property-seed.ts';
import { scratch } from '../world/scripted-host.ts';
import { type ReferenceCondition, referenceMatches } from './reference-rules.ts';

const CASES = 100_000;

/** A project with links inside, out of it, in a circle, and to nothing. */
function createProject(): { readonly project: string; readonly outside: string; readonly alias: string } {
  const dir = realpathSync(scratch());
  const [project, outside, alias] = [join(dir, 'project'), join(dir, 'outside'), join(dir, 'alias')];
  mkdirSync(join(project, 'src', 'deep'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(project, 'src', 'a.txt'), '');
  writeFileSync(join(outside, 'secret'), '');
  symlinkSync(outside, join(project, 'out'));
  symlinkSync('src', join(project, 'inner'));
  symlinkSync('nowhere/at/all', join(project, 'dangling'));
  symlinkSync('loop', join(project, 'loop'));
  symlinkSync(project, alias);
  return { project, outside, alias };
}

describe('conditions of rules (A49)', () => {
  it(`POL-8: agree with a second evaluator in ${CASES} generated cases`, { timeout: 240_000 }, () => {
    const { project, outside, alias } = createProject();
    const pick = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

    const words = pick(
      'acme',
      'ACME',
      'acme ',
      'docs',
      'my-docs',
      'ﬁle',
      'file',
      'é',
      'é',
      'ａｃｍｅ',
      'ac\u200bme',
      'null',
      'true',
      '42',
      '',
      'ß',
      'SS',
      'K',
      'k',
      'a\nb',
      'git status',
      'git log; rm',
      'a\0b',
      '💥',
      '\ud83d',
    );
    const pathParts = pick(
      'src',
      'SRC',
      'deep',
      'a.txt',
      'out',
      'inner',
      'dangling',
      'loop',
      'secret',
      '..',
      '.',
      '',
      'new',
      '.env',
      '%2e%2e',
      '..%2f..',
      '%252e%252e',
      '．．',
      '\\..\\',
      ' ',
      '~',
      'é',
    );
    const roots = pick(
      '',
      '',
      '/',
      './',
      '../',
      `${project}/`,
      `${outside}/`,
      `${alias}/`,
      '~/',
      `${homedir()}/`,
      '~root/',
      'file://',
      `file://${project}/`,
      `FILE://localhost${outside}/`,
      ' /',
      `file:${outside}/`,
      `${project}/src/../`,
    );
    const paths = fc
      .tuple(roots, fc.array(pathParts, { maxLength: 4 }), pick('', '', '/', '?x', '#y'))
      .map(([root, parts, end]) => root + parts.join('/') + end);
    const urls = fc
      .tuple(
        pick('https://', 'http://', 'HTTPS://', '', '//', 'https:', 'ftp://'),
        pick('', 'u:p@', 'docs.example.com@'),
        pick(
          'docs.example.com',
          'DOCS.example.com',
          'evil.test',
          'docs.example.com.',
          'evil.test%2f.example.com',
          'a.b.example.com',
          'docs.example.com\\@evil.test',
          'evil.test\\@docs.example.com',
          '127.0.0.1 .example.com',
          'evil.test:80.example.com',
          'docs.example.com:443',
          'docs.example.com:8443',
        ),
        pick('', '/', '/a/b', '/a/../b', '/a/%2e%2e/b', '/a?x=/y', '/a#/b', '/.example.com/a', '\\a'),
      )
      .map((parts) => parts.join(''));
    const strings = fc.oneof(words, paths, urls, fc.string({ unit: 'grapheme', maxLength: 6 }));
    const leaves = fc.oneof(
      { weight: 6, arbitrary: strings },
      pick<unknown>(42, 1, true, false, null, 1e21, -0.5),
    );
    const names = pick('a', 'b', 'path', 'x.y');
    const values = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        { weight: 5, arbitrary: leaves },
        { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
        { weight: 2, arbitrary: fc.dictionary(names, tie('value'), { maxKeys: 3 }) },
      ),
    })).value;
    const args = fc.dictionary(names, values, { maxKeys: 4 });

    const globs = fc.oneof(
      pick(
        'acme',
        'a*',
        '*',
        '*-docs',
        'a?me',
        '[a-c]*',
        '[!a]*',
        '{acme,docs}',
        'null',
        'true',
        '4?',
        'git *',
        '\\*',
        'é',
        'k',
        '${PROJECT_DIR}',
        'fi*e',
        '**',
      ),
      pick('src/**', 'src/*', '.env', '.*', 'src/a.txt', '*/secret', 'new/', '{src,new}/*', 'inner/**'),
      pick(
        '/**',
        '/',
        '~/**',
        '~',
        '.',
        './**',
        './src/*',
        '../outside/**',
        '${PROJECT_DIR}/**',
        '${PROJECT_DIR}/src/**/a.txt',
        '${PROJECT_DIR}/*',
        '${PROJECT_DIR}/out/**',
        `${outside}/**`,
        `${outside}/secret`,
        `${alias}/**`,
        `${alias}/src/[a-c].txt`,
        `file://${project}/**`,
        '/etc/**',
        '/root/**',
        './{src,new/**}',
        './src/../new',
        '${PROJECT_DIR}/**/deep',
      ),
      pick(
        'https://docs.example.com/**',
        'https://*.example.com/**',
        'https://docs.example.com/a/*',
        'https://docs.example.com/b',
        '*://evil.test/**',
        'http://docs.example.com/?',
      ),
    );
    const expressions = pick(
      '^acme$',
      'acme',
      '^git (status|log)',
      '^git (?:status|log)$',
      'a.b',
      '[a-z]{2,3}$',
      '\\bdocs\\b',
      '^\\d+$',
      '(a|b)*c',
      '^(?:a{1,2}){2}$',
      '\\u{1F4A5}',
      'é|k',
      '^$',
      '\\Bc',
      '^[^a]+$',
      '\\p{Lu}',
      '^${PROJECT_DIR}',
      'x*?y+?',
    );
    const segments = fc.array(fc.oneof({ weight: 6, arbitrary: names }, fc.constant('*')), {
      minLength: 1,
      maxLength: 2,
    });
    const conditions = fc.oneof(
      fc.record({ argument: segments, operator: pick<'=' | '!='>('=', '!='), pattern: globs }),
      fc.record({ argument: segments, operator: pick<'~' | '!~'>('~', '!~'), pattern: expressions }),
    );
    const schemas = pick<unknown>(undefined, {
      properties: { a: { default: 'acme' }, path: { default: 'src', properties: { b: { default: 42 } } } },
    });

    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(
        fc.array(conditions, { minLength: 1, maxLength: 2 }),
        pick<'allow' | 'ask' | 'deny'>('allow', 'ask', 'deny'),
        args,
        pick([], [outside]),
        schemas,
        (list, effect, given, folders, inputSchema) => {
          const rule = `mcp__s__t(${list.map(written).join(', ')})`;
          const { test: matches } = compileRule(rule, effect === 'allow' ? 'allow' : 'refuse');
          if (typeof matches !== 'function') throw new Error(`${rule} was not compiled`);
          const subject: RuleSubject = { arguments: given, projectDir: project, folders, inputSchema };
          const result = matches(subject);
          seen[`${result}`] += 1;
          const reference = referenceMatches(
            list,
            effect,
            given,
            { projectDir: project, folders },
            inputSchema,
          );
          if (result !== reference) throw new Error(`${effect} ${rule}: ${result}, reference: ${reference}`);
        },
      ),
      { numRuns: CASES },
    );
    // Both answers are frequent, or the cases would show little.
    expect(seen.true).toBeGreaterThan(CASES / 10);
    expect(seen.false).toBeGreaterThan(CASES / 10);
  });
});

/** Quotes where the grammar needs it; otherwise bare, so that both forms are parsed. */
function written({ argument, operator, pattern }: ReferenceCondition): string {
  const name = argument.map((segment) => (segment.includes('.') ? `"${segment}"` : segment)).join('.');
  const isBare =
    /^[^"'(),{}=~!<>:\s\\][^"'(),\\]*$/.test(pattern) && pattern.trim() === pattern && pattern !== '';
  return `${name}${operator}${isBare || pattern.startsWith('~/') ? pattern : `'${pattern}'`}`;
}
