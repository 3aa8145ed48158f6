/** Every snippet of every page is run, type-checked or validated; those that cannot be say why, and are few. */

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskedRequest, type Reply, ScriptedModel } from '../chat/scripted-model.ts';
import { removeHome } from '../remove-home.ts';
import { problemsOf } from './configuration.ts';
import { installInto, isProgram, runnable, shapeCheck, typeCheck } from './programs.ts';
import { type Printed, Sandbox } from './sandbox.ts';
import { agreed } from './shown.ts';
import { PAGES, type Snippet, snippetsOf, typedIn } from './snippets.ts';

const MAX_NOT_RUN = 13;
/** How often the pages ask a model altogether, at most. */
const MAX_ASKED = 50;
/** A page's set-up and its snippets start several programs each. */
const SNIPPET_MS = 60_000;
/** Blocks that show something and are nothing that could be run. */
const SHOWN_ONLY: readonly string[] = ['text', ''];

const all = PAGES.flatMap(snippetsOf);
const notRun = all.filter(({ notRun }) => notRun !== undefined);
const checked = all.filter(({ notRun, language }) => notRun === undefined && !SHOWN_ONLY.includes(language));
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-pages-')));
const typed: { snippet: Snippet; text: string }[] = [];
let model: ScriptedModel;

beforeAll(async () => {
  installInto(temp);
  model = await ScriptedModel.start(...Array.from({ length: MAX_ASKED }, () => answer));
});
afterAll(async () => {
  await model.close();
  removeHome(temp);
});

/** Reads a file when it can, then says what it is called. */
function answer({ body }: AskedRequest): Reply {
  // Anthropic's protocol brings results as words of the user; OpenAI's Responses have items in place of messages.
  const last: { role?: string } | undefined = (body.messages ?? body.input).at(-1);
  const isAsked = last?.role === 'user' && !JSON.stringify(last).includes('tool_result');
  const read = JSON.stringify(body.tools ?? []).match(/mcp__\w+__read\b/)?.[0];
  if (read === undefined || !isAsked) return { text: 'It is called the-project.' };
  return { calls: [{ name: read, arguments: { path: 'package.json' } }] };
}

const pages = PAGES.filter((page) => checked.some((snippet) => snippet.page === page));

describe.each(pages)('%s', (page) => {
  const snippets = checked.filter((snippet) => snippet.page === page);
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.open(join(temp, page.replaceAll(/\W/g, '-')), {
      ANTHROPIC_API_KEY: 'any',
      ANTHROPIC_BASE_URL: model.url.replace('/v1', ''),
      OPENAI_API_KEY: 'any',
      OPENAI_BASE_URL: model.url,
      PLUGBOARD_MODEL: model.name,
      // Pages show what a program prints, not that Node warns of a server that is not there.
      NODE_OPTIONS: '--disable-warning=PLUGBOARD_SERVER',
    });
  });
  afterAll(() => sandbox.close());

  it.each(snippets)(
    'line $line: $language holds',
    async (snippet) => {
      if (snippet.before !== undefined) succeeded(await sandbox.run(snippet.before));
      await check(snippet, sandbox, snippets);
    },
    SNIPPET_MS,
  );
});

async function check(snippet: Snippet, sandbox: Sandbox, others: readonly Snippet[]): Promise<void> {
  const { language, text, file, printedBy } = snippet;
  if (printedBy !== undefined) {
    const printed = await sandbox.run(printedBy);
    succeeded(printed);
    if (language === 'json') expect(agreed(laidOut(text), laidOut(printed.text))).toBe(laidOut(text));
    else typed.push({ snippet, text: shapeCheck(snippet, printed.text) });
  } else if (isProgram(snippet)) await checkProgram(snippet, sandbox, others);
  else if (language === 'json' || language === 'jsonc') {
    expect(problemsOf(text)).toEqual([]);
    if (file !== undefined) sandbox.save(file, text);
  } else if (language === 'console') await checkConsole(text, sandbox);
  else if (language === 'sh') succeeded(await sandbox.run(`(set -e\n${text})\n`));
  else throw new Error(`Nobody knows how to check ${language}: teach test/docs/snippets.test.ts.`);
}

function succeeded({ status, text }: Printed): void {
  expect({ status, text }).toEqual({ status: 0, text });
}

function laidOut(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2);
}

/** A program with a name is for a command further down; any other is run at once. */
async function checkProgram(snippet: Snippet, sandbox: Sandbox, others: readonly Snippet[]): Promise<void> {
  typed.push({ snippet, text: snippet.text });
  const name = snippet.file ?? `line-${snippet.line}.mjs`;
  sandbox.save(name, await runnable(snippet));
  if (snippet.file !== undefined && snippet.prints === undefined) {
    const users = others.filter(({ language, text }) => language === 'console' && text.includes(name));
    expect(users, `no command of the page uses ${name}`).not.toEqual([]);
    return;
  }
  const { status, text } = await sandbox.run(`node ${name}`);
  expect({ status, text: agreed(snippet.prints ?? '', text) }).toEqual({
    status: 0,
    text: snippet.prints ?? '',
  });
}

async function checkConsole(block: string, sandbox: Sandbox): Promise<void> {
  const commands = typedIn(block);
  expect(commands).not.toEqual([]);
  for (const { command, shown } of commands) {
    const run = command.endsWith('&') ? sandbox.runOn(command, shown) : sandbox.run(command);
    const { status, text } = await run;
    const failed = /^error: /m.test(shown) && !command.includes('||');
    // Softly: one run shows everything on the page that is no longer true.
    expect.soft({ command, failed: status !== 0, text: agreed(shown, text) }).toEqual({
      command,
      failed,
      text: shown,
    });
  }
}

it(
  'programs and shapes on pages have the types of what is shipped',
  async () => {
    expect(await typeCheck(temp, typed)).toEqual([]);
  },
  SNIPPET_MS,
);

it('snippets that are not run are few, and each has a reason', () => {
  const list = notRun.map(({ page, line, notRun: reason }) => `  ${page}:${line}: ${reason}`);
  console.info(`${checked.length} snippets checked, ${list.length} not run:\n${list.join('\n')}`);
  expect(list.length).toBeLessThanOrEqual(MAX_NOT_RUN);
  expect(notRun.filter(({ notRun: reason = '' }) => !reason.startsWith('because '))).toEqual([]);
});
