/** The page of a managed gateway in a real browser, and everything that it asked for or complained about. */

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { makeWorld, TOKEN, type World, type WorldOptions } from './world.ts';

export const WAIT_MS = 15_000;

export interface Shown {
  readonly world: World;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every address that the page asked for. */
  readonly asked: string[];
  /** What went wrong in the page, violations of its policy included. */
  readonly faults: string[];
  close(): Promise<void>;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
}

async function showPage(browser: Browser, options: WorldOptions = {}, width = 1280): Promise<Shown> {
  const world = await makeWorld(options);
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  const page = await context.newPage();
  // Shorter than a test may take, so that what was waited for is told.
  page.setDefaultTimeout(WAIT_MS);
  const [asked, faults]: [string[], string[]] = [[], []];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // An answer with a status of failure is told by the browser itself.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(`${world.origin}/#token=${TOKEN}`);
  await page.waitForSelector('.server-row, .welcome');
  return {
    world,
    page,
    context,
    asked,
    faults,
    async close() {
      await context.close();
      await world.close();
    },
  };
}

export interface SuiteBrowser {
  show(options?: WorldOptions, width?: number): Promise<Shown>;
  /** What else is closed when the test is over, the newest first. */
  readonly open: { close(): unknown }[];
}

/** One browser for all tests of a file; what a test has shown is closed after it. */
export function suiteBrowser(): SuiteBrowser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, 60_000);
  afterAll(() => browser?.close());
  const open: SuiteBrowser['open'] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  return {
    open,
    async show(options, width) {
      const shown = await showPage(browser, options, width);
      open.push(shown);
      return shown;
    },
  };
}

export const row = (name: string): string => `.server-row[data-server="${name}"]`;

export async function textOf(page: Page, selector: string): Promise<string> {
  // As it is laid out: what a person would read.
  return page
    .locator(selector)
    .first()
    .evaluate((element) => String(Reflect.get(element, 'innerText')));
}
