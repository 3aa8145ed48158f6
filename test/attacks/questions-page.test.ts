/** A28: ten hostile questions on the page where a person answers; docs/attacks/questions.md is written by this run. */

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table } from '../../scripts/docs/table.mjs';
import { type Exchange, scriptedServer } from '../../src/testing/index.ts';
import { launchBrowser, WAIT_MS } from '../manage/browser.ts';
import { modern } from '../serve/bare-client.ts';
import { CALLING_TOKEN, type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';
import { HOSTILE_QUESTIONS, type HostileQuestion } from './hostile-questions.ts';
import { NAIVE_PAGE } from './naive-page.ts';

const WAITING = '.question:has(button:text-is("Deny"))';
const MAX_SMOOTHED_SHARE = 0.002;
const rows: string[][] = [];
let browser: Browser;
let context: BrowserContext;
let page: Page;
let world: ManagedGateway;
/** What the hostile server asks next. */
let hostile: HostileQuestion | undefined;
/** What went wrong in the page: exceptions, dialogs, violations of its policy. */
const faults: string[] = [];
const openPages: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
  world = await twoServers();
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('framenavigated', (frame) => openPages.push(frame.url()));
  await page.goto(`${world.origin}/#token=${TOKEN}`);
  await page.waitForSelector('.live[data-tone=good]');
  await page.keyboard.press('4');
  await page.waitForSelector('.plain');
  openPages.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

/** What a person at a page can be fooled by, found the same way on every page. */
const FIND_FAULTS = `(() => {
  const cards = [...document.querySelectorAll('.question')];
  const real = cards.find((card) => [...card.querySelectorAll('.actions button')].some(({ textContent }) => textContent === 'Deny'));
  const button = [...(real?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === 'Allow once');
  const faults = [];
  if (document.querySelectorAll('main :is(img:not(.picture), iframe, style, script, base, marquee), main [style*=fixed]').length > 0)
    faults.push('its elements or styles are in the page');
  const { left, top, width, height } = button?.getBoundingClientRect() ?? { width: 0 };
  if (width === 0) faults.push('the real question is not shown');
  else if (top < 0 || top + height > innerHeight) faults.push('the real button is out of view');
  else if (document.elementFromPoint(left + width / 2, top + height / 2) !== button) faults.push('the real button is covered');
  const others = cards.filter((card) => card !== real);
  if (others.some((card) => [...card.querySelectorAll('h1, h2, header, .actions')].some(({ textContent }) => /Allow\\s+(once|pay of bank)/.test(textContent))))
    faults.push('another card reads like an approval');
  return faults;
})()`;

/** Whether the button by which each question is refused is what a click at its centre reaches. */
const HIT_BUTTONS = `[...document.querySelectorAll('.question')].map((card) => {
  const button = [...card.querySelectorAll('.actions button')].find(({ textContent }) => /^(Decline|Deny)$/.test(textContent));
  button.scrollIntoView({ block: 'nearest' });
  const { left, top, width, height } = button.getBoundingClientRect();
  const isHit = document.elementFromPoint(left + width / 2, top + height / 2) === button;
  document.querySelector('.plain').scrollTop = 0;
  return isHit;
})`;

/** The real question as pixels: its heading and its buttons. */
async function picture(of: Page): Promise<readonly string[]> {
  // No pointer on a button, which would look different under it.
  await of.mouse.move(0, 0);
  const parts = ['h2', '.actions'].map((part) =>
    of.locator(`${WAITING} ${part}`).screenshot({ animations: 'disabled' }),
  );
  return (await Promise.all(parts)).map((part) => part.toString('base64'));
}

/** More than the way in which a browser smooths letters, which changes with what can be scrolled. */
async function looksDifferent(before: string, now: string): Promise<boolean> {
  const blank = await context.newPage();
  const share = await blank.evaluate(`(async ([before, now]) => {
    const pixelsOf = async (data) => {
      const image = new Image();
      image.src = 'data:image/png;base64,' + data;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      return canvas.getImageData(0, 0, image.width, image.height).data;
    };
    const [old, young] = [await pixelsOf(before), await pixelsOf(now)];
    if (old.length !== young.length) return 1;
    return old.reduce((sum, value, at) => sum + (Math.abs(value - young[at]) > 96 ? 1 : 0), 0) / old.length;
  })(${JSON.stringify([before, now])})`);
  await blank.close();
  return Number(share) > MAX_SMOOTHED_SHARE;
}

async function faultsOf(of: Page, before: readonly string[]): Promise<string[]> {
  const found = (await of.evaluate(FIND_FAULTS)) as string[];
  if (found.length > 0) return found;
  const now = await picture(of);
  for (const [at, part] of now.entries())
    if (part !== before[at] && (await looksDifferent(before[at] ?? '', part)))
      return ['the real question looks different'];
  return [];
}

async function onNaivePage({ method, params, times = 1 }: HostileQuestion): Promise<string[]> {
  const naive = await context.newPage();
  await naive.setContent(NAIVE_PAGE);
  const real = { kind: 'approval', server: 'bank', tool: 'pay' };
  await naive.evaluate(`draw(${JSON.stringify([real])})`);
  const before = await picture(naive);
  const kind = method === 'elicitation/create' ? 'elicitation' : 'sampling';
  const asked = Array.from({ length: times }, () => ({ kind, server: 'evil', params }));
  await naive.evaluate(`draw(${JSON.stringify([...asked, real])})`);
  const found = await faultsOf(naive, before);
  await naive.close();
  return found;
}

/** Two servers behind a gateway: one whose tool must be approved, and one that asks what a test gave it. */
function twoServers(): Promise<ManagedGateway> {
  const bank = scriptedServer({ tools: { pay: () => 'paid' } });
  const evil = scriptedServer({
    eras: 'legacy',
    tools: {
      ask: async (_: unknown, { request }: Exchange) => {
        const { method = '', params = {}, times = 1 } = hostile ?? {};
        const answers = Array.from({ length: times }, () =>
          request(method, { ...params }).then(
            (answer) => JSON.stringify(answer),
            (error: { code?: number }) => `refused with ${error.code}`,
          ),
        );
        return [...new Set(await Promise.all(answers))].join();
      },
    },
  });
  return openManagedGateway({
    host: {
      servers: {
        bank: { command: 'scripted', lifecycle: 'eager', approval: 'prompt' },
        evil: { command: 'scripted', lifecycle: 'eager', approval: 'approve' },
      },
      replaceTransport: (name) => (name === 'bank' ? bank : evil).transport(),
    },
  });
}

/** A client that cannot ask its own user, so that questions go to the page; resolves with the text of the result. */
async function call(server: string, tool: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${CALLING_TOKEN}` };
  const params = { name: `${server}__${tool}`, arguments: {} };
  const { messages } = await modern(world.served.url, 1, 'tools/call', params, {}, headers);
  return (messages as { result?: { content: { text: string }[] } }[])[0]?.result?.content[0]?.text;
}

const settled = (): Promise<unknown> => page.waitForSelector('.plain:not(.settling)');
const cardsAre = (count: number): Promise<void> =>
  expect.poll(() => page.locator('.question').count(), { timeout: WAIT_MS }).toBe(count);

/** The page has to hold by itself too: the same question, as if nothing had checked it. */
async function injectUnchecked({ method, params }: HostileQuestion): Promise<void> {
  await context.route('**/api/approvals', async (route) => {
    const answer = await route.fetch();
    const { approvals } = (await answer.json()) as { approvals: object[] };
    const { message, requestedSchema: schema } = params;
    const details =
      method === 'elicitation/create'
        ? { kind: 'elicitation', mode: 'form', message, schema }
        : { kind: 'sampling', params };
    const injected = { id: 'x1', server: 'evil', session: 's', until: Date.now() + 300_000, ...details };
    await route.fulfill({ response: answer, json: { approvals: [injected, ...approvals] } });
  });
  await page.evaluate(`dispatchEvent(new Event('online'))`);
}

async function onOurs(question: HostileQuestion): Promise<string> {
  const { times = 1, isInvalid } = question;
  const paid = call('bank', 'pay');
  await cardsAre(1);
  await settled();
  const before = await picture(page);
  const asked = call('evil', 'ask');
  if (isInvalid) {
    expect(await asked).toBe('refused with -32602');
    await injectUnchecked(question);
  }
  const cards = Math.min(times, 3) + 1;
  await cardsAre(cards);
  await settled();
  expect(await page.locator('.question').last().textContent()).toMatch(/evil/);
  if (process.env['SHOTS'] !== undefined)
    await page.screenshot({ path: `${process.env['SHOTS']}/${rows.length + 1}.png` });
  expect(await faultsOf(page, before)).toEqual([]);
  expect(await page.evaluate(HIT_BUTTONS)).toEqual(Array.from({ length: cards }, () => true));
  await page.click(`${WAITING} button:text-is("Allow once")`);
  expect(await paid).toBe('paid');
  if (isInvalid) {
    await context.unrouteAll({ behavior: 'wait' });
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await cardsAre(0);
    return 'refused with −32602, no surface gets it; drawn by the page all the same, it is text';
  }
  await cardsAre(cards - 1);
  if (times > 1) await page.click('.questions-more button:text-is("Decline them")');
  for (let left = cards - 1; left > 0; left -= 1) {
    await settled();
    await page.locator('.question button:text-is("Decline")').first().click();
    await cardsAre(left - 1);
  }
  expect(await asked).toBe('{"action":"decline"}');
  return times > 1
    ? 'three cards and a count, below the approval'
    : 'shown as text, in a frame with its name';
}

describe('A28: hostile questions', () => {
  it.each(HOSTILE_QUESTIONS)('$what', async (question) => {
    const naive = await onNaivePage(question);
    expect(naive).not.toEqual([]);
    hostile = question;
    const ours = await onOurs(question);
    const hacked = await page.evaluate('window.hacked');
    expect([faults, openPages, context.pages().length, hacked]).toEqual([[], [], 1, undefined]);
    rows.push([question.what, naive.join('; '), ours]);
  });

  it('the table is current', async () => {
    const text = [
      '# Hostile questions on the page',
      '',
      'A server asks in ten ways that try to act on the page where a person answers, while a call of another server waits for approval.',
      'Each is drawn by a plain page first, in the same browser. On the page of Plugboard every real question stays visible and looks as',
      'before, its button is what a click at its centre reaches, and there is no violation of the content policy, no dialog and no',
      'navigation. This page is written by [that run](../../test/attacks/questions-page.test.ts).',
      '',
      table([['the question', 'a plain page', 'Plugboard'], ...rows]),
      '',
    ].join('\n');
    await expect(text).toMatchFileSnapshot('../../docs/attacks/questions.md');
  });
});
