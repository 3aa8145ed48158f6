/** The documents say what is true: tables come from the code, every command and code is there, links lead somewhere. */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../scripts/docs/pages.mjs';
import { EXIT_STATUS } from '../src/errors.ts';
import { Host } from '../src/host/host.ts';
import { EVENT_NAMES } from '../src/manage/event-log.ts';
import { PAGES, ROOT } from './docs/snippets.ts';

const MAX_AGENTS_WORDS = 500;
/** Every command is started once. */
const ALL_COMMANDS_MS = 120_000;
/** The attacks that are known to have worked on programs like this one. */
const ATTACKS = Array.from({ length: 50 }, (_, at) => `A${at + 1}`);
/** The rows of the specification that the page of features has to have. */
const FEATURES = [
  ...ids('CFG', [1, 2, 3, 4, 5, 6, 7, 8, 9]),
  ...ids('CON', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16]),
  ...ids('AUT', [1, 2, 3, 4, 5, 6]),
  ...ids('CAT', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
  ...ids('CAL', [1, 2, 3, 4, 5, 6, 7]),
  ...ids('POL', [1, 2, 3, 4, 5, 6, 7]),
  ...ids('KIT', [1, 2, 3]),
  ...ids('SRV', [1, 2, 3, 4, 5, 6]),
  ...ids('UI', [1, 2, 3, 4]),
];

/** Ids of faults, attacks and features, as names of tests and comments cite them. */
const ID = /(?<![\w-])(?:[AF]\d{1,2}|(?:AGT|AUT|CAL|CAT|CFG|CON|KIT|LIB|MOV|POL|SRV|SVC|UI)-\d+)(?![\w-])/g;

const command = join(ROOT, 'dist', 'bin', 'plugboard.cjs');
const exec = promisify(execFile);

function ids(area: string, numbers: readonly number[]): string[] {
  return numbers.map((number) => `${area}-${number}`);
}

function page(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The text under a heading, up to the next one of its level or above. */
function section(text: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const [, after = ''] = text.split(`\n${heading}\n`);
  return after.split(new RegExp(`\\n#{1,${level}} `))[0] ?? '';
}

it('pages show the current keys, flags, routes, error codes and events of the code (to fix: npm run docs)', async () => {
  for (const { page: path, text, should } of await generatedPages())
    expect({ path, text }).toEqual({ path, text: should });
});

describe('the page about commands', () => {
  const text = page('docs/commands.md');

  async function help(...words: readonly string[]): Promise<string> {
    const { stdout } = await exec(process.execPath, [command, ...words, '--help', '--json']);
    return (JSON.parse(stdout) as { help: string }).help;
  }

  it('UI-1: has a section for every command, and for no other', async () => {
    const listed = [...(await help()).matchAll(/^ {2}([a-z][a-z-]*)(?:\|[a-z]+)? {2,}\S/gm)].map(
      ([, name]) => name,
    );
    const described = [...text.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
    expect(described.toSorted()).toEqual(listed.toSorted());
  });

  it(
    'UI-1: explains every flag of every command',
    async () => {
      const names = [...text.matchAll(/^### (\S+)$/gm)].map(([, name = '']) => name);
      const missing = await Promise.all(
        names.map(async (name) => {
          const [own = ''] = (await help(name)).split('\nGlobal Options:');
          const flags = [...own.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag);
          const told = section(text, `### ${name}`);
          return flags
            .filter((flag) => flag !== '--help' && !told.includes(flag))
            .map((flag) => `${name} ${flag}`);
        }),
      );
      expect(missing.flat()).toEqual([]);
    },
    ALL_COMMANDS_MS,
  );
});

describe('the page about errors', () => {
  it('lists every code with its exit status, and no other', () => {
    const errors = section(page('docs/servers-in-trouble.md'), '## Errors');
    const listed = [...errors.matchAll(/^\| `([A-Z_]+)` +\| (\d+) /gm)].map(([, code, exit]) => [
      code,
      Number(exit),
    ]);
    expect(Object.fromEntries(listed)).toEqual(EXIT_STATUS);
  });
});

describe('the page about the library', () => {
  const text = page('docs/library.md');

  it('CON-7: lists every event, and no other', () => {
    const listed = [...section(text, '## Events').matchAll(/^\| `([\w.]+)` /gm)].map(([, name]) => name);
    // Only in the process of the host: `log` includes `message`, and the API shows no arguments or results.
    const ownOnly = ['message', 'call.arguments', 'call.result'];
    expect(listed.toSorted()).toEqual([...EVENT_NAMES, ...ownOnly].toSorted());
  });

  it('speaks of every method of a host', () => {
    const methods = Object.getOwnPropertyNames(Host.prototype).filter(
      (name) => !['constructor', 'prepareCall', 'start'].includes(name),
    );
    expect(methods.filter((name) => !text.includes(`\`${name}(`))).toEqual([]);
  });
});

describe('all pages', () => {
  it.each([...PAGES, 'CHANGELOG.md'])(
    '%s: every link leads to a file and a heading that are there',
    (file) => {
      const broken = [...page(file).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        if (/^[a-z]+:/.test(link)) return [];
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? join(ROOT, file) : resolve(ROOT, dirname(file), path);
        if (!existsSync(target)) return [link];
        return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [link];
      });
      expect(broken).toEqual([]);
    },
  );

  it('the page of features has a row for every feature of the specification that exists', () => {
    const rows = [...page('docs/features.md').matchAll(/^\| ([A-Z]+-\d+) /gm)].map(([, id]) => id);
    expect(FEATURES.filter((id) => !rows.includes(id))).toEqual([]);
  });

  // Protocol: 25-overview-10b, 26-overview-10b
  it('the page about security names, for every attack, tests that have its id', () => {
    const rows = [...page('docs/security.md').matchAll(/^\| (A\d+) .*$/gm)].map(([row, id = '']) => ({
      id,
      tests: [...row.matchAll(/\]\(\.\.\/(test\/\S+?)\)/g)].map(([, file = '']) => file),
    }));
    expect(rows.map(({ id }) => id)).toEqual(ATTACKS);
    const idle = rows.filter(({ tests }) => tests.length === 0);
    const wrong = rows.flatMap(({ id, tests }) =>
      tests.filter((file) => !new RegExp(`\\b${id}\\b`).test(page(file))).map((file) => `${id} ${file}`),
    );
    expect({ idle, wrong }).toEqual({ idle: [], wrong: [] });
  });

  it('every id in code, tests and pages is defined in a table of the docs', () => {
    const defined = new Set(
      ['docs/ids.md', 'docs/features.md', 'docs/security.md'].flatMap((file) =>
        [...page(file).matchAll(/^\| (\w+(?:-\d+)?) +\|/gm)].map(([, id]) => id),
      ),
    );
    const cited = ['src', 'test', 'docs'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(?:ts|mjs|md)$/.test(file))
        .flatMap((file) =>
          [...page(join(folder, file)).matchAll(ID)].map(([id]) => ({ id, file: join(folder, file) })),
        ),
    );
    expect(cited.filter(({ id }) => !defined.has(id))).toEqual([]);
  });

  it('the page for agents stays short', () => {
    const words = page('AGENTS.md')
      .split(/\s+/)
      .filter((word) => /\w/.test(word));
    expect(words.length).toBeLessThan(MAX_AGENTS_WORDS);
  });

  it('the page about benches speaks of every bench', () => {
    const benches = readdirSync(join(ROOT, 'bench')).filter((file) => file.endsWith('.mjs'));
    expect(benches.filter((file) => !page('bench/README.md').includes(file))).toEqual([]);
  });
});

/** Headings as GitHub names them. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
