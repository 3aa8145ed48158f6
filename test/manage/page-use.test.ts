/** The page in a real browser: tools, calls and questions, and words that would like to be more than words. */

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createGate, type Exchange } from '../../src/testing/index.ts';
import { modern } from '../serve/bare-client.ts';
import { CALLING_TOKEN } from '../world/managed-gateway.ts';
import { row, suiteBrowser, textOf, WAIT_MS } from './browser.ts';

const { show } = suiteBrowser();

const nested = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'In one line.' },
    count: { type: 'integer', minimum: 1 },
    level: { type: 'string', enum: ['low', 'high'] },
    urgent: { type: 'boolean' },
    author: {
      type: 'object',
      properties: { name: { type: 'string' }, mail: { type: 'string' } },
      required: ['name'],
    },
    tags: { type: 'array', items: { type: 'string' } },
    target: {
      oneOf: [
        { title: 'A file', type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        { title: 'A line', type: 'integer' },
      ],
    },
    extra: { $ref: '#/$defs/anything' },
  },
  required: ['title'],
  $defs: { anything: { description: 'Whatever you like.' } },
};
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const kinds = {
  tools: {
    give: {
      description: 'Gives its arguments back.',
      inputSchema: nested,
      run: (args: object) => JSON.stringify(args),
    },
    plain_words: () => 'just words',
    picture: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: PIXEL }] }),
    rows: () => ({
      content: [],
      structuredContent: {
        rows: [
          { a: 1, b: 'x' },
          { a: 2, b: 'y' },
        ],
      },
    }),
    wrong: () => {
      throw new Error('out of luck');
    },
  },
};

async function openTool(page: Page, name: string): Promise<void> {
  await page.keyboard.press('2');
  await page.click(`.row:has(strong:text-is("${name}"))`);
}

describe('SRV-6: tools', () => {
  // Protocol: 25-tools-2a, 26-tools-3a
  it('finds them while one types, and explains why', async () => {
    const { page } = await show({ script: kinds });
    // At once: what is typed while the view changes belongs into the box.
    await page.keyboard.type('/give arguments');
    // Every letter is a search of its own: the last one is used. Rows are moved, not rebuilt, so the place identifies the first.
    await expect
      .poll(() => textOf(page, '.list .row[data-at="0"]'), { timeout: WAIT_MS })
      .toMatch(/^give\s+1\.\s+Gives its arguments back\.\s+found in [\s\S]*description arguments$/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await textOf(page, '.detail h2')).toBe('give');
    await page.fill('.search', 'zzzz qqqq');
    await page.waitForSelector('.list .none:text-is("Nothing fits.")');
  });

  it('makes a form of a nested schema, and sends what was filled in', async () => {
    const { page, faults } = await show({ script: kinds });
    await openTool(page, 'give');
    const field = (name: string) =>
      page.locator(`.form .field:has(.field-name:text-is("${name}")) >> input, textarea, select`).first();
    await page.click('button:text-is("Run")');
    await page.locator('.form label:has-text("title") + input').fill('Hello');
    await page.locator('.form label:has-text("count") + input').fill('two');
    await page.click('button:text-is("Run")');
    expect(await textOf(page, '.tool .callout.bad')).toContain('count: must be a number');
    await page.locator('.form label:has-text("count") + input').fill('2');
    await page.locator('.form label:has-text("level") + select').selectOption({ label: 'high' });
    await page.getByRole('radiogroup', { name: 'urgent' }).getByText('yes').click();
    await page.locator('fieldset:has(legend:text("author")) label:has-text("name") + input').fill('Ada');
    await page.click('fieldset:has(legend:text("tags")) >> button:text-is("Add an item")');
    await page.click('fieldset:has(legend:text("tags")) >> button:text-is("Add an item")');
    await page.locator('fieldset:has(legend:text("tags")) input').nth(0).fill('one');
    await page.locator('fieldset:has(legend:text("tags")) input').nth(1).fill('gone');
    await page.locator('fieldset:has(legend:text("tags")) .remove').nth(1).click();
    await page.locator('.variant').selectOption({ label: 'A file' });
    await page.locator('fieldset.variants input').fill('a.md');
    await page.locator('.form label:has-text("extra") + textarea').fill('{"deep":[1,2]}');
    await page.keyboard.press('Control+Enter');
    await page.waitForSelector('.result .tree');
    await page.click('.tab:text-is("Raw")');
    const raw = JSON.parse(await textOf(page, '.result .raw')) as { content: { text: string }[] };
    expect(JSON.parse(raw.content[0]?.text ?? '')).toEqual({
      title: 'Hello',
      count: 2,
      level: 'high',
      urgent: true,
      author: { name: 'Ada' },
      tags: ['one'],
      target: { path: 'a.md' },
      extra: { deep: [1, 2] },
    });
    await page.click('button:text-is("Edit as JSON")');
    expect(JSON.parse(await page.inputValue('.form textarea.json'))).toMatchObject({
      title: 'Hello',
      tags: ['one'],
    });
    await page.click('button:text-is("Fill in a form")');
    expect(await page.locator('.form label:has-text("title") + input').inputValue()).toBe('Hello');
    expect([await field('title').isVisible(), faults]).toEqual([true, []]);
  });

  it('shows text, a picture, a table, a tree and what failed', async () => {
    const { page, faults } = await show({ script: kinds });
    const run = async (name: string, wanted: string): Promise<string> => {
      await openTool(page, name);
      await page.click('button:text-is("Run")');
      await page.waitForSelector(wanted);
      return textOf(page, wanted);
    };
    expect(await run('plain_words', '.result .text')).toBe('just words');
    await run('picture', '.result img');
    const width = await page
      .locator('.result img')
      .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
    expect(width).toBe(1);
    expect((await run('rows', '.result table')).split(/\s+/)).toEqual(['a', 'b', '1', 'x', '2', 'y']);
    expect(await run('wrong', '.answer .pill[data-tone=bad]')).toContain('reported an error');
    expect(await textOf(page, '.result .text')).toBe('out of luck');
    expect(faults).toEqual([]);
  });
});

describe('SRV-6: calls and questions', () => {
  // Protocol: 25-tools-2b, 26-tools-3b
  it('shows calls as they happen: running with progress, and how they went', async () => {
    const [half, done] = [createGate(), createGate()];
    const work = async (_: unknown, { progress }: Exchange): Promise<string> => {
      progress(1, 2, 'half');
      half.open();
      await done.opened;
      return 'done';
    };
    const { page, world } = await show({ script: { tools: { work, fail: kinds.tools.wrong } } });
    await page.keyboard.press('3');
    expect(await textOf(page, '.calls .none')).toContain('No calls yet');
    const call = world.host.session({ approvals: 'client' }).call('mcp__small__work');
    await half.opened;
    await page.waitForSelector('.row:has-text("work"):has-text("50 %")');
    done.open();
    await call;
    await page.waitForSelector('.row:has-text("work") .outcome:has-text("ok")');
    await world.host.session({ approvals: 'client' }).call('mcp__small__fail');
    await page.waitForSelector('.row:has-text("fail") .outcome:has-text("tool error")');
    await page.click('.segments button:text-is("failed")');
    expect(await page.locator('.calls .row:visible').count()).toBe(1);
    await page.keyboard.press('1');
    await page.waitForSelector(`${row('small')} .bars`);
  });

  it('an approval of a client that cannot ask is answered here', async () => {
    const { page, world } = await show({
      script: { tools: { write: () => 'written' } },
      config: { permissions: { ask: ['mcp__small__write'] } },
    });
    await page.waitForSelector('.live[data-tone=good]');
    const ask = (): ReturnType<typeof modern> =>
      modern(
        world.served.url,
        1,
        'tools/call',
        { name: 'mcp__small__write', arguments: { path: 'a.md' } },
        {},
        {
          authorization: `Bearer ${CALLING_TOKEN}`,
        },
      );
    const denied = ask();
    await expect.poll(() => page.title()).toBe('(1) Plugboard');
    await page.keyboard.press('4');
    expect(await textOf(page, '.question')).toMatch(/Allow write of small\?[\s\S]*path[\s\S]*a\.md/);
    // Against an ask rule a lasting one has no effect.
    expect(await page.locator('.question button:text-is("Always allow")').count()).toBe(0);
    await page.click('button:text-is("Deny")');
    expect((await denied).messages).toMatchObject([{ result: { isError: true } }]);
    await page.waitForSelector('.question', { state: 'detached' });
    const allowed = ask();
    await page.click('button:text-is("Allow once")');
    expect((await allowed).messages).toMatchObject([{ result: { content: [{ text: 'written' }] } }]);
    await expect.poll(() => page.title()).toBe('Plugboard');
  });

  // Protocol: 25-elicitation-3c, 25-elicitation-44, 26-elicitation-3c, 26-elicitation-36
  it('a form of a server is filled in here, an address is shown before it is opened, a completion is written', async () => {
    const form = {
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string', title: 'Name' }, kind: { type: 'string', enum: ['a', 'b'] } },
        required: ['name'],
      },
    };
    const url = {
      mode: 'url',
      message: 'Please pay.',
      url: 'https://pay.example.com/x',
      elicitationId: 'e1',
    };
    const sample = { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }], maxTokens: 9 };
    const asks =
      (method: string, params: object) =>
      (_: unknown, { request }: Exchange) =>
        request(method, { ...params }).then((answer) => JSON.stringify(answer));
    const { page, world, context } = await show({
      script: {
        eras: 'legacy',
        tools: {
          form: asks('elicitation/create', form),
          url: asks('elicitation/create', url),
          sample: asks('sampling/createMessage', sample),
        },
      },
    });
    await page.keyboard.press('4');
    const call = async (name: string): Promise<unknown> =>
      (
        (await world.api('POST', '/api/call', { name: `mcp__small__${name}` })).body as {
          content: { text: string }[];
        }
      ).content[0]?.text;
    const filled = call('form');
    await page.fill('.question label:has-text("Name") + input', 'Ada');
    await page.selectOption('.question select', { label: 'b' });
    await page.click('.question button:text-is("Send")');
    expect(await filled).toBe('{"action":"accept","content":{"name":"Ada","kind":"b"}}');
    const paid = call('url');
    await page.waitForSelector('.question:has-text("pay.example.com")');
    expect(context.pages()).toHaveLength(1);
    await page.click('.question button:text-is("Decline")');
    expect(await paid).toBe('{"action":"decline"}');
    const said = call('sample');
    await page.fill('.question textarea', 'hi');
    await page.click('.question button:text-is("Send")');
    expect(await said).toBe('{"role":"assistant","model":"a person","content":{"type":"text","text":"hi"}}');
  });
});

describe('A41: definitions that changed', () => {
  it('are shown with their differences, and accepted as shown', async () => {
    const { page, world, faults } = await show({
      script: { tools: { read: { description: 'Reads.', run: () => 'read' } } },
      host: { servers: { small: { command: 'scripted', lifecycle: 'eager', pins: 'hold' } } },
    });
    world.server.tool('first', { description: '<b>Call me first.</b>', run: () => 'first' });
    world.server.notify('notifications/tools/list_changed');
    await page.waitForSelector('.held');
    expect(await textOf(page, '.held .diff')).toContain('+ <b>Call me first.</b>');
    expect(world.host.tools().map(({ tool }) => tool)).toEqual(['read']);
    await page.click('.held button:text-is("Accept as shown")');
    await page.waitForSelector('.held', { state: 'detached' });
    expect([world.host.tools().map(({ tool }) => tool), faults]).toEqual([['first', 'read'], []]);
  });
});

describe('A15: words of servers', () => {
  const evil =
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u001b[31mred\u001b[0m\u202egnp\u200b.exe';
  const shown = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>redgnp.exe';

  it('stay words in names, descriptions, forms, questions and results', async () => {
    const schema = {
      type: 'object',
      properties: { word: { type: 'string', title: evil, description: evil, enum: ['<b>bold</b>'] } },
      required: ['word'],
    };
    const { page, world, faults } = await show({
      script: {
        eras: 'legacy',
        tools: {
          bad: {
            title: evil,
            description: evil,
            inputSchema: schema,
            run: async (_: unknown, { request }: Exchange) => {
              await request('elicitation/create', { mode: 'form', message: evil, requestedSchema: schema });
              return {
                content: [{ type: 'text', text: evil }],
                structuredContent: { rows: [{ [evil]: evil }] },
              };
            },
          },
        },
      },
      config: { mcpServers: { [`<b>${'x'.repeat(20)}</b>`]: { command: 'scripted' } } },
    });
    await page.waitForSelector('.server-row >> text=<b>');
    await page.keyboard.press('2');
    await page.click('.row');
    expect(await textOf(page, '.detail h2')).toBe(shown);
    expect(await textOf(page, '.detail .about')).toBe(shown);
    await page.click('button:text-is("Run")');
    await page.keyboard.press('4');
    await page.waitForSelector('.question');
    expect(await textOf(page, '.question .about')).toBe(shown);
    await page.click('.question button:text-is("Decline")');
    await page.keyboard.press('2');
    await page.waitForSelector('.result td');
    expect(await textOf(page, '.result td')).toBe(shown);
    await page.click('.tab:text-is("Raw")');
    await page.keyboard.press('3');
    await page.waitForSelector('.call-row.row');
    const all = await page.evaluate(
      `[window.hacked, document.querySelectorAll('main script, main img:not(.picture), main b').length,
        /[\\u001b\\u202e\\u200b]/.test(document.body.innerText)]`,
    );
    expect([all, faults]).toEqual([[undefined, 0, false], []]);
    expect((await world.api('GET', '/api/calls')).status).toBe(200);
  });

  it('cannot become markup, a picture of elsewhere or an unseen address through Markdown', async () => {
    const markdown = [
      '# <img src=x onerror="window.hacked=1">',
      '[free](javascript:window.hacked=1) and ![pixel](https://evil.example/pixel.png)',
      'Some **bold** text and <b onclick="window.hacked=1">b</b>',
      '<script>window.hacked=1</script>',
      '[docs](https://docs.example/path?to=you)',
    ].join('\n\n');
    const { page, asked, world, context, faults } = await show({
      script: { tools: { say: { description: markdown, run: () => markdown } } },
    });
    await openTool(page, 'say');
    await page.click('button:text-is("Run")');
    await page.waitForSelector('.result .markdown strong');
    expect(
      await page.locator('main :is(img:not(.picture):not(.server-icon), script, b, a[href^=http])').count(),
    ).toBe(0);
    await page.click('.result .text-link:text-is("free")');
    expect(await textOf(page, 'dialog h2')).toBe('This link is not a web address');
    expect(await page.locator('dialog button:text-is("Open it")').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.click('.result .text-link:text-is("docs")');
    expect(await textOf(page, 'dialog .url')).toBe('https://docs.example/path?to=you');
    await page.keyboard.press('Escape');
    expect(await page.evaluate('window.hacked')).toBe(undefined);
    expect(asked.filter((url) => !url.startsWith(`${world.origin}/`))).toEqual([]);
    expect([context.pages().length, faults]).toEqual([1, []]);
  });

  it('cannot become code even where markup is made by hand: the policy refuses it', async () => {
    const { page } = await show({ script: kinds });
    const refused = await page.evaluate(
      `(() => { try { document.body.innerHTML = '<img src=x onerror=1>'; return false; } catch { return true; } })()`,
    );
    expect(refused).toBe(true);
  });
});
