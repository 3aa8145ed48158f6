/** The page in a real browser: what it does outside of its window, and what a person takes from it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate, type Exchange } from '../../src/testing/index.ts';
import { legacySession, post } from '../serve/bare-client.ts';
import { CALLING_TOKEN, type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';
import { launchBrowser, textOf, WAIT_MS } from './browser.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/content-server.mjs', import.meta.url));
/** 8 × 8 pixels, so that an enlarged one differs from the first. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGM4YWGBFTEMLQkAyJVQASZIkT4AAAAASUVORK5CYII=';

/** Records what the page asks of the browser; the browser still does it. */
const RECORD = `
  window.shownNotifications = [];
  window.tones = 0;
  window.isAway = false;
  Object.defineProperty(document, 'hidden', { get: () => window.isAway });
  window.Notification = class extends Notification {
    constructor(title, options) {
      super(title, options);
      window.shownNotifications.push({ title, body: options.body });
    }
  };
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...when) {
    window.tones += 1;
    return start.apply(this, when);
  };
`;

let browser: Browser;
let world: ManagedGateway;
let context: BrowserContext;
let page: Page;
const faults: string[] = [];
let gate = createGate();

async function slow(_: unknown, { progress }: Exchange): Promise<string> {
  gate = createGate();
  progress(1, 4, 'warming up');
  await gate.opened;
  return 'slow is done';
}

beforeAll(async () => {
  [browser, world] = await Promise.all([
    launchBrowser(),
    openManagedGateway({
      takesNamed: true,
      config: {
        mcpServers: {
          remote: { command: process.execPath, args: [FIXTURE, 'completes'], lifecycle: 'eager' },
        },
        permissions: { ask: ['small__write'] },
      },
      script: {
        tools: {
          write: () => 'written',
          slow,
          words: () => 'line one\nline two',
          picture: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: PICTURE }] }),
        },
      },
    }),
  ]);
  context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  await context.grantPermissions(['notifications', 'clipboard-read', 'clipboard-write']);
  page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.addInitScript(RECORD);
  await page.goto(`${world.origin}/#token=${TOKEN}`);
  await page.waitForSelector('.live[data-tone=good]');
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
  expect(faults).toEqual([]);
});

/** Opens a session of an agent. */
async function openAgent(name: string): Promise<(tool: string, args?: object) => Promise<unknown>> {
  const { url } = world.served;
  const headers = { authorization: `Bearer ${CALLING_TOKEN}` };
  const session = await legacySession(url, '2025-11-25', {}, headers, { name, version: '1.2.3' });
  let id = 0;
  return async (tool, args = {}) => {
    id += 1;
    const params = { name: `small__${tool}`, arguments: args };
    const { messages } = await post(url, { jsonrpc: '2.0', id, method: 'tools/call', params }, session);
    return (messages as { result?: { content: { text: string }[] } }[])[0]?.result?.content[0]?.text;
  };
}

/** Sets whether the page takes itself for hidden, as behind another window. */
async function setAway(isAway: boolean): Promise<void> {
  await page.evaluate(`window.isAway = ${isAway}`);
}

/** Lets an agent ask, waits until the page has the question, denies it, and returns what the browser was asked for. */
async function askOnce(call: (tool: string) => Promise<unknown>): Promise<unknown> {
  await page.evaluate('window.shownNotifications.length = 0; window.tones = 0');
  await setAway(true);
  const called = call('write');
  await expect.poll(() => page.title(), { timeout: WAIT_MS }).toBe('(1) Plugboard');
  const seen = await page.evaluate(
    '({ notifications: [...window.shownNotifications], tones: window.tones })',
  );
  await setAway(false);
  await page.keyboard.press('4');
  await page.click('.question button:text-is("Deny")');
  expect(await called).toContain('denied');
  await page.waitForSelector('.question', { state: 'detached' });
  return seen;
}

describe('UI-6: a question in another window', () => {
  it('is silent at first, and makes a notification and a sound when they are switched on', async () => {
    const call = await openAgent('first-agent');
    expect(await askOnce(call)).toEqual({ notifications: [], tones: 0 });
    await page.keyboard.press('7');
    for (const name of ['Notifications', 'Sound']) {
      const setting = page.getByRole('radiogroup', { name });
      await setting.getByRole('radio', { name: 'on' }).click();
      await setting.locator('[role=radio][aria-checked=true]:text-is("on")').waitFor();
    }
    expect(await askOnce(call)).toEqual({
      notifications: [{ title: 'Plugboard', body: 'Allow write of small?' }],
      tones: 1,
    });
    await page.reload();
    await page.waitForSelector('.live[data-tone=good]');
    expect(await askOnce(call)).toMatchObject({ tones: 1 });
  });

  it('has a notice in other views, which goes with the question', async () => {
    const call = await openAgent('second-agent');
    await page.keyboard.press('2');
    await page.waitForSelector('main[aria-label="Tools"]');
    const called = call('write');
    await page.waitForSelector('.notice:has-text("Allow write of small?")');
    await page.keyboard.press('4');
    await page.waitForSelector('.notice:has-text("Allow write of small?")', { state: 'detached' });
    await page.click('.question button:text-is("Deny")');
    await called;
  });
});

describe('UI-6: agents', () => {
  it('are on the overview with what each calls now, and what waits for a person', async () => {
    const [runs, waits, idle] = await Promise.all(['runs', 'waits', 'idle'].map((name) => openAgent(name)));
    expect(await idle?.('words')).toBe('line one\nline two');
    const running = runs?.('slow');
    const waiting = waits?.('write');
    await page.keyboard.press('0');
    const line = (name: string): string => `.agent-line:has-text("${name} 1.2.3")`;
    await page.waitForSelector(`${line('runs')}:has-text("slow"):has-text("25 % · ")`);
    await page.waitForSelector(`${line('waits')}:has-text("write"):has-text("waits for you")`);
    await page.waitForSelector(`${line('idle')}:has-text("last: words"):has-text("ok, ")`);
    await page.click(`${line('waits')} .agent-call`);
    await page.click('.question:has-text("waits 1.2.3") button:text-is("Allow once")');
    expect(await waiting).toBe('written');
    await page.keyboard.press('0');
    await page.click(`${line('runs')} .agent-call`);
    await page.waitForSelector('.call-detail h2:text-is("slow")');
    gate.open();
    expect(await running).toBe('slow is done');
    await page.waitForSelector('.call-detail .pill:text-is("ok")');
    await page.keyboard.press('5');
    await page.waitForSelector(`.client-detail ${line('runs')}`);
  });
});

describe('UI-6: results', () => {
  const run = async (tool: string): Promise<void> => {
    await page.goto(`${world.origin}/#/tools/small/${tool}`);
    await page.click('.tool button:text-is("Run")');
    await page.waitForSelector('.answer .result');
  };
  /** Clicks, and returns the name and the bytes of the file that is saved then. */
  const saved = async (button: string): Promise<readonly [string, Buffer]> => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };

  it('are copied and saved as text', async () => {
    await run('words');
    await page.click('.result-bar button:text-is("Copy")');
    await page.waitForSelector('.notice:has-text("Copied to the clipboard.")');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('line one\nline two');
    const [name, bytes] = await saved('.result-bar button:text-is("Save")');
    expect([name, bytes.toString()]).toEqual(['words.txt', 'line one\nline two']);
  });

  it('with an image are enlarged, and saved as the image', async () => {
    await run('picture');
    await page.click('.picture-button');
    await page.waitForSelector('dialog.picture-dialog[open] img');
    const [name, bytes] = await saved('dialog button:text-is("Save")');
    expect([name, bytes.toString('base64')]).toEqual(['picture-1.png', PICTURE]);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await page.evaluate('document.activeElement.className')).toBe('picture-button');
  });
});

describe('UI-6: arguments of prompts and templates', () => {
  const suggestions = (label: string): Promise<readonly string[]> =>
    page
      .getByLabel(label)
      .evaluate((input) =>
        [...(Reflect.get(input, 'list') as { options: Iterable<{ value: string }> }).options].map(
          ({ value }) => value,
        ),
      );

  it('are completed by the server while one types', async () => {
    await page.goto(`${world.origin}/#/servers/remote/prompts`);
    await page.click('.prompt:has-text("greet") button:text-is("Get the prompt")');
    expect(await textOf(page, '.prompt .field-error')).toBe('is required');
    expect(await page.evaluate('document.activeElement.id')).toBe('prompt-0-0');
    await expect.poll(() => suggestions('who'), { timeout: WAIT_MS }).toEqual(['Ada', 'Alan', 'Grace']);
    await page.getByLabel('who').pressSequentially('Al');
    await expect.poll(() => suggestions('who'), { timeout: WAIT_MS }).toEqual(['Alan']);
    await page.getByLabel('how').fill('Bonjour');
    await page.getByLabel('who').fill('');
    await expect.poll(() => suggestions('who'), { timeout: WAIT_MS }).toEqual(['Blaise', 'Marie']);
    await page.getByLabel('who').fill('Marie');
    await page.reload();
    await page.waitForSelector('.prompt');
    expect(await page.getByLabel('who').inputValue()).toBe('Marie');
    await page.click('.prompt:has-text("greet") button:text-is("Get the prompt")');
    await page.waitForSelector('.prompt .result:has-text("Bonjour Marie")');
    await page.click('.tab-line a:text-is("Resources")');
    await page.getByLabel('path').fill('a');
    await expect.poll(() => suggestions('path'), { timeout: WAIT_MS }).toEqual(['a.md']);
  });
});

describe('UI-6: the log of a server', () => {
  it('stays in place while it is read, counts new lines, and is copied and saved', async () => {
    const script = join(world.dir, 'noisy.mjs');
    writeFileSync(
      script,
      `for (let at = 0; at < 45; at += 1) console.error('line ' + at); process.exitCode = 3;`,
    );
    await world.host.save(
      'remote',
      { command: process.execPath, args: [script] },
      { scope: 'user', replace: true },
    );
    await page.goto(`${world.origin}/#/servers/remote/log`);
    await page.waitForSelector('.log-line:has-text("line 44")');
    const top = (): Promise<number> =>
      page.locator('.log-lines').evaluate((box) => Number(Reflect.get(box, 'scrollTop')));
    expect(await top()).toBeGreaterThan(0);
    await page.locator('.log-lines').evaluate((box) => Reflect.set(box, 'scrollTop', 0));
    await page.click('.detail button:text-is("Try again")');
    await page.waitForSelector('.server-log button:has-text("Paused: ")');
    await page.waitForSelector('.log-line:has-text("line 44") ~ .log-line:has-text("line 44")', {
      state: 'attached',
    });
    expect(await top()).toBe(0);
    await page.click('.server-log button:has-text("Paused: ")');
    await page.waitForSelector('.server-log button:has-text("Paused: ")', { state: 'detached' });
    expect(await top()).toBeGreaterThan(0);
    await page.click('.server-log button:text-is("Copy")');
    await page.waitForSelector('.notice:has-text("Copied to the clipboard.")');
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(' stderr line 44');
  });
});
