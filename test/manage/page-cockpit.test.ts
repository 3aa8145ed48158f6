/** The page in a real browser: calls with their values, decisions and management, in one gateway and one window. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate, type Exchange } from '../../src/testing/index.ts';
import { legacySession, post } from '../serve/bare-client.ts';
import { CALLING_TOKEN, type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';
import { launchBrowser, textOf, WAIT_MS } from './browser.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/content-server.mjs', import.meta.url));
const PATH = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

let browser: Browser;
let world: ManagedGateway;
let context: BrowserContext;
let page: Page;
const faults: string[] = [];
/** Opened by the test for each call of `slow`, in the order of the calls. */
const gates: ReturnType<typeof createGate>[] = [];

async function slow(_: unknown, { progress }: Exchange): Promise<string> {
  const gate = createGate();
  gates.push(gate);
  progress(1, 4, 'warming up');
  await gate.opened;
  return 'slow is done';
}

beforeAll(async () => {
  [browser, world] = await Promise.all([
    launchBrowser(),
    openManagedGateway({
      takesNamed: true,
      host: { servers: { small: { command: 'scripted', lifecycle: 'eager', approval: 'prompt' } } },
      config: {
        mcpServers: {
          remote: { command: process.execPath, args: [FIXTURE], lifecycle: 'eager' },
          extra: { command: 'scripted', lifecycle: 'eager', env: { TOKEN: 'sesame-street' } },
        },
        permissions: { allow: ['small__greet', 'small__slow', 'small__fail'] },
      },
      script: {
        instructions: '**Greet** before you write.',
        tools: {
          greet: {
            inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
            run: ({ name }: Readonly<Record<string, unknown>>) => `hello ${name}`,
          },
          slow,
          fail: () => {
            throw new Error('out of marmalade');
          },
          write: { inputSchema: PATH, run: () => 'written' },
          wipe: { inputSchema: PATH, annotations: { destructiveHint: true }, run: () => 'wiped' },
        },
      },
    }),
  ]);
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(`${world.origin}/#token=${TOKEN}`);
  await page.waitForSelector('.live[data-tone=good]');
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
  expect(faults).toEqual([]);
});

describe('SRV-6: calls', () => {
  it('have a detail with arguments, result and duration, which a link opens and the search finds', async () => {
    const session = world.host.session({ approvals: 'client' });
    await session.call('mcp__small__greet', { name: 'Ada' });
    await session.call('mcp__small__fail').catch(() => {});
    await page.keyboard.press('3');
    await page.click('.row:has-text("greet")');
    await page.waitForSelector('.call-detail .arguments:has-text("Ada")');
    expect(await textOf(page, '.call-detail .result .text')).toBe('hello Ada');
    expect(new URL(page.url()).hash).toMatch(/^#\/calls\/.+/);
    await page.reload();
    await page.waitForSelector('.call-detail .arguments:has-text("Ada")');
    await page.click('.call-detail .back');
    await page.fill('.call-search', 'marmalade');
    await expect.poll(() => page.locator('.calls .row').count(), { timeout: WAIT_MS }).toBe(1);
    expect(await textOf(page, '.calls .row .what')).toMatch(/^fail/);
    await page.fill('.call-search', '');
    await page.click('.row:has-text("greet")');
    await page.click('.call-detail button:text-is("Open in Tools")');
    expect(await page.inputValue('.tool .form input')).toBe('Ada');
  });

  it('of any client can be cancelled while they run', async () => {
    const running = world.host.session({ approvals: 'client' }).call('mcp__small__slow');
    const ended = running.then(String, (error: { code: string }) => error.code);
    await page.keyboard.press('3');
    await page.click('.row:has-text("slow"):has-text("25 %")');
    await page.waitForSelector('.call-detail .waiting:has-text("25 %, warming up")');
    await page.click('.call-detail button:text-is("Cancel the call")');
    expect(await ended).toBe('CANCELLED');
    await page.waitForSelector('.call-detail .pill:text-is("cancelled")');
  });

  it('of this page go on while it is reloaded, with the form as it was', async () => {
    await page.goto(`${world.origin}/#/tools/small/slow`);
    await page.click('.tool button:text-is("Run")');
    await page.waitForSelector('.answer .waiting:has-text("25 %")');
    await page.reload();
    await page.waitForSelector('.answer .waiting:has-text("25 %, warming up")');
    gates.at(-1)?.open();
    await page.waitForSelector('.answer .result:has-text("slow is done")');
    await page.goto(`${world.origin}/#/tools/small/greet`);
    await page.fill('.tool .form input', 'not sent yet');
    await page.reload();
    await page.waitForSelector('.tool .form input');
    expect(await page.inputValue('.tool .form input')).toBe('not sent yet');
  });
});

/** Calls a tool as an agent that cannot ask its own user; resolves with the text of the result. */
async function callAsAgent(tool: string, args: object): Promise<unknown> {
  const { url } = world.served;
  const session = await legacySession(url, '2025-11-25', {}, { authorization: `Bearer ${CALLING_TOKEN}` });
  const params = { name: `small__${tool}`, arguments: args };
  const { messages } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session);
  return (messages as { result?: { content: { text: string }[] } }[])[0]?.result?.content[0]?.text;
}

describe('SRV-6: decisions', () => {
  it('show who asks; a destructive call looks different; the overview leads to it', async () => {
    const called = callAsAgent('wipe', { path: '/srv' });
    await page.keyboard.press('0');
    await page.click('.urgent-line:has-text("Allow wipe of small?")');
    await page.waitForSelector('.question[data-danger=destructive]');
    expect(await textOf(page, '.question .asker')).not.toBe('');
    expect(await textOf(page, '.question .tag')).toBe('destructive');
    await page.click('.question button:text-is("Deny")');
    expect(await called).toContain('denied');
  });

  it('for always show the rule, which can be narrowed, and what it allows', async () => {
    const called = callAsAgent('write', { path: '/notes/a.md' });
    await page.keyboard.press('4');
    await page.click('.question button:text-is("Always allow")');
    await page.waitForSelector('.rule-preview:has-text("small · write")');
    const rule = page.locator('.question .rule-editor input');
    await rule.fill('small__write(path=');
    await page.waitForSelector('.question .field-error');
    await rule.fill('small__greet');
    await page.waitForSelector('.rule-preview:has-text("does not match the call")');
    await rule.fill('small__write(path=/notes/**)');
    await page.waitForSelector('.rule-preview:has-text("small · write")');
    await page.click('.question button:text-is("Add the rule and allow")');
    expect(await called).toBe('written');
    expect(world.readConfig()).toMatchObject({
      permissions: { allow: expect.arrayContaining(['small__write(path=/notes/**)']) },
    });
    expect(await callAsAgent('write', { path: '/notes/b.md' })).toBe('written');
  });

  it('are rules, which can be added, understood and removed', async () => {
    await page.keyboard.press('6');
    await page.waitForSelector('.rule-row:has-text("small__write(path=/notes/**)")');
    await page.selectOption('#rule-list', 'deny');
    await page.fill('#new-rule', 'small__wipe');
    await page.waitForSelector('.rule-preview:has-text("small · wipe")');
    await page.click('button:text-is("Add")');
    await page.waitForSelector('.rule-row:has-text("small__wipe")');
    expect(world.readConfig()).toMatchObject({ permissions: { deny: ['small__wipe'] } });
    await page.click('.rule-row:has-text("small__wipe") button:text-is("Remove")');
    await page.click('button:text-is("Really remove")');
    await page.waitForSelector('.rule-row:has-text("small__wipe")', { state: 'detached' });
  });
});

describe('SRV-6: management', () => {
  it('disables and enables a server, and switches one tool off', async () => {
    await page.goto(`${world.origin}/#/servers/extra`);
    await page.click('.detail button:text-is("Disable")');
    await page.waitForSelector('.detail .pill:text-is("disabled")');
    await page.click('.detail button:text-is("Enable")');
    await page.waitForSelector('.detail .pill:text-is("connected")');
    await page.click('.tab-line a:text-is("Tools")');
    await page.getByRole('switch', { name: 'Offer wipe to agents' }).click();
    await page.waitForSelector('h3:text-is("4 of 5 tools on")');
    const { body } = await world.api('GET', '/api/tools?server=extra');
    expect((body as { tools: { tool: string }[] }).tools.map(({ tool }) => tool)).not.toContain('wipe');
  });

  it('edits an entry, keeps its secrets, and shows a mistake where it is', async () => {
    await page.click('.tab-line a:text-is("Configuration")');
    await page.click('.detail button:text-is("Edit")');
    const text = page.locator('#entry-text');
    await expect.poll(() => text.inputValue()).toContain('"command"');
    const shown = await text.inputValue();
    expect(shown).not.toContain('sesame');
    await text.fill(shown.replace('"command"', 'command'));
    await page.click('.detail button:text-is("Save")');
    await page.waitForSelector('.detail .callout.bad:has-text("is not JSON, line 2")');
    await text.fill(JSON.stringify({ ...JSON.parse(shown), timeoutMs: 5000 }));
    await page.reload();
    await page.click('.detail button:text-is("Edit")');
    await expect.poll(() => text.inputValue()).toContain('5000');
    await page.click('.detail button:text-is("Save")');
    await page.waitForSelector('.notice:has-text("The entry of extra is saved.")');
    expect(world.readConfig()).toMatchObject({
      mcpServers: { extra: { timeoutMs: 5000, env: { TOKEN: 'sesame-street' } } },
    });
  });

  it('approves a server of the project with its whole command line in view', async () => {
    const entry = { command: 'scripted', args: ['--all', 'two words'] };
    writeFileSync(join(world.project, '.mcp.json'), JSON.stringify({ mcpServers: { shared: entry } }));
    await world.host.reload();
    await page.goto(`${world.origin}/#/servers/shared`);
    await page.waitForSelector('.approval .command-line');
    expect(await textOf(page, '.approval .command-line code')).toMatch(/scripted --all ['"]two words['"]/);
    await page.click('.approval button:text-is("Approve and start")');
    await page.waitForSelector('.detail .pill:text-is("connected")');
  });
});

describe('SRV-6: understanding', () => {
  it('shows version and capabilities, and reads resources and prompts', async () => {
    await page.goto(`${world.origin}/#/servers/remote`);
    await page.waitForSelector('.server-detail:has-text("Can do")');
    await page.click('.tab-line a:text-is("Resources")');
    await page.click('.row-button:has-text("file:///a.md")');
    await page.waitForSelector('.resource-result .block');
    await page.click('.tab-line a:text-is("Prompts")');
    await page.locator('.prompt input').first().fill('x');
    await page.locator('.prompt button:text-is("Get the prompt")').first().click();
    await page.waitForSelector('.prompt .result');
  });

  it('shows the instructions of a server as Markdown', async () => {
    await page.goto(`${world.origin}/#/servers/small`);
    await page.waitForSelector('.instructions strong:text-is("Greet")');
  });

  it('shows the log of a server live', async () => {
    const script = join(world.dir, 'fails.mjs');
    const failing = (text: string): void =>
      writeFileSync(script, `console.error(${JSON.stringify(text)}); process.exit(3);`);
    failing('the kettle is cold');
    const entry = { command: process.execPath, args: [script] };
    await world.host.save('remote', entry, { scope: 'user', replace: true });
    await page.goto(`${world.origin}/#/servers/remote/log`);
    await page.waitForSelector('.log-line:has-text("the kettle is cold")');
    failing('the kettle is hot');
    await page.click('.detail button:text-is("Try again")');
    await page.waitForSelector('.log-line:has-text("the kettle is hot")');
  });
});

describe('SRV-6: the beginning', () => {
  it('adds a server from a pasted README, and shows a mistake in it with its place', async () => {
    await page.keyboard.press('1');
    await page.click('button:text-is("Add a server")');
    await page.selectOption('#add-kind', 'paste');
    await page.fill('#paste-text', '{ "mcpServers": { "notes": { "command": } } }');
    await page.click('dialog button:text-is("Read it")');
    await page.waitForSelector('dialog .callout.bad');
    await page.fill('#paste-text', `claude mcp add notes -- node notes.mjs --header="X-Key: a b"`);
    await page.click('dialog button:text-is("Read it")');
    await page.click('dialog button:text-is("Add notes")');
    await page.waitForSelector('.approval .command-line:has-text("X-Key: a b")');
    await page.click('.detail button:text-is("Remove")');
    await page.click('.detail button:text-is("Really remove")');
    await page.waitForSelector('.server-row[data-server="notes"]', { state: 'detached' });
  });

  it('adds a known server', async () => {
    await page.click('button:text-is("Add a server")');
    await page.selectOption('#add-kind', 'preset');
    await page.selectOption('#preset-id', 'memory');
    await page.click('dialog button:text-is("Add it")');
    await page.waitForSelector('.detail h2:text-is("memory")');
    await page.waitForSelector('.approval .command-line');
  });

  it('welcomes with the agents of this machine, and imports their servers', async () => {
    const home = mkdtempSync(join(tmpdir(), 'plugboard-first-'));
    mkdirSync(join(home, '.cursor'));
    const entry = { command: 'npx', args: ['-y', 'weather-mcp'] };
    writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { weather: entry } }));
    const first = await openManagedGateway({
      host: { env: { HOME: home, PLUGBOARD_CREDENTIALS: 'file', PATH: process.env['PATH'] } },
    });
    const window = await context.newPage();
    window.setDefaultTimeout(WAIT_MS);
    await window.goto(`${first.origin}/#token=${TOKEN}`);
    await window.waitForSelector('.welcome-card');
    await window.waitForSelector('.import-agent:has-text("Cursor"):has-text("weather")');
    await window.click('.import button:has-text("Import 1 server")');
    await window.waitForSelector('.server-row[data-server="weather"]:has-text("not approved")');
    expect(first.readConfig()).toMatchObject({ mcpServers: { weather: entry } });
    await window.close();
    await first.close();
    rmSync(home, { recursive: true });
  });
});

describe('SRV-8: agents', () => {
  it('are connected with lines to copy, or with a token that is shown once', async () => {
    await page.keyboard.press('5');
    await page.click('button:text-is("Connect an agent")');
    await page.waitForSelector('.connect-lines:has-text("Claude Code")');
    await page.getByRole('radio', { name: 'over HTTP, with a token' }).click();
    await page.fill('#token-name', 'laptop');
    await page.click('button:text-is("Create its token")');
    await page.waitForSelector('.new-token');
    expect((await textOf(page, '.new-token')).length).toBeGreaterThan(20);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.client-row[data-client="laptop"]');
  });

  it('have profiles, which are added, marked where they are wrong, and removed', async () => {
    await page.keyboard.press('6');
    await page.click('button:text-is("Add a profile")');
    await page.fill('#profile-name', 'reader');
    await page.fill('#profile-text', '{ "tools": ["*__greet" }');
    await page.click('button:text-is("Save the profile")');
    await page.waitForSelector('.card .callout.bad:has-text("is not JSON, line 1")');
    await page.fill('#profile-text', '{ "tools": ["*__greet"] }');
    await page.click('button:text-is("Save the profile")');
    await page.waitForSelector('.profile-row:has-text("reader")');
    expect(world.readConfig()).toMatchObject({ profiles: { reader: { tools: ['*__greet'] } } });
    await page.click('.profile-row button:text-is("Remove")');
    await page.click('.profile-row button:text-is("Really remove")');
    await page.waitForSelector('.profile-row', { state: 'detached' });
  });
});

describe('SRV-6: settings', () => {
  it('switch the history off and clear it', async () => {
    await page.keyboard.press('7');
    const kept = page.getByRole('radiogroup', { name: 'Keep calls with their values' });
    await kept.getByRole('radio', { name: 'off' }).click();
    await expect.poll(() => world.readConfig()).toMatchObject({ history: false });
    await page.click('button:text-is("Clear the history")');
    await page.click('button:text-is("Really clear")');
    await page.waitForSelector('.notice:has-text("The history is cleared.")');
    await kept.getByRole('radio', { name: 'on' }).click();
    await expect.poll(() => Object.hasOwn(world.readConfig() as object, 'history')).toBe(false);
  });
});
