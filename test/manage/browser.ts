/** The page of a managed gateway in a real browser, and everything that it asked for or complained about. */

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import {
  type ManagedGateway,
  type ManagedGatewayOptions,
  openManagedGateway,
  TOKEN,
} from '../world/managed-gateway.ts';

export const WAIT_MS = 15_000;

export interface Shown {
  readonly world: ManagedGateway;
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

async function showPage(browser: Browser, options: ManagedGatewayOptions = {}, width = 1280): Promise<Shown> {
  const world = await openManagedGateway(options);
  // Without motion, so that no test reads a colour or a place in the middle of an animation.
  const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  // Shorter than a test may take, so that the error names what was waited for.
  page.setDefaultTimeout(WAIT_MS);
  const [asked, faults]: [string[], string[]] = [[], []];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // The browser itself reports an answer with an error status.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(`${world.origin}/#token=${TOKEN}`);
  await page.waitForSelector('.tile, .welcome');
  await page.keyboard.press('1');
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
  show(options?: ManagedGatewayOptions, width?: number): Promise<Shown>;
  /** What else is closed when the test is over, the newest first. */
  readonly open: { close(): unknown }[];
}

/** One browser for all tests of a file; what a test has shown is closed after it. */
export function suiteBrowser(): SuiteBrowser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
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

/** Text that is shown with less contrast than WCAG AA asks for: 4.5, or 3 for large text. */
export async function contrastFaults(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
    const light = (colour) => {
      const [r, g, b] = colour.map((part) => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      const layers = [];
      for (let at = element; at !== null; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
      return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const faults = new Set();
    for (const element of document.querySelectorAll('body *')) {
      const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
      if (!isText || element.closest(':disabled') || !element.checkVisibility({ opacityProperty: true })) continue;
      const style = getComputedStyle(element);
      const back = behind(element);
      const [a, b] = [light(over(rgba(style.color), back)), light(back)].sort((one, two) => two - one);
      const size = parseFloat(style.fontSize);
      const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < least) faults.add(element.className + ': ' + ratio.toFixed(2));
    }
    return [...faults];
  })()`);
}
