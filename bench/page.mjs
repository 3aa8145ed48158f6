/**
 * The page in Chromium: bytes sent, first useful paint, and the longest task while 1,000 tools and 10,000 calls are
 * scrolled, searched and added to. Each run is a new browser; medians with their spread.
 *
 *   node scripts/build.mjs && node bench/page.mjs [runs]
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createHost } from '../dist/index.js';
import { serveHttp } from '../dist/serve/index.js';
import { scriptedServer } from '../dist/testing/index.js';

const RUNS = Number(process.argv[2] ?? 5);
const TOOLS = 1_000;
const CALLS = 10_000;
const TOKEN = 'for-the-bench-only';
const MAX_BYTES = 150 * 1024;
const MAX_PAINT_MS = 300;
const MAX_TASK_MS = 50;

const tools = Object.fromEntries(
  Array.from({ length: TOOLS }, (_, at) => [
    `tool_${at}`,
    {
      description: `Does the thing number ${at} to a file, an issue or a table, and says how it went.`,
      inputSchema: {
        type: 'object',
        properties: { path: { type: 'string' }, count: { type: 'integer' } },
        required: ['path'],
      },
      run: () => 'done',
    },
  ]),
);

const home = await mkdtemp(join(tmpdir(), 'plugboard-bench-'));
const server = scriptedServer({ tools });
const host = await createHost({
  home,
  cwd: home,
  watch: false,
  servers: { many: { inProcess: server, lifecycle: 'eager' } },
});
await host.ready();
const gateway = await serveHttp(host, { port: 0, manage: { token: TOKEN } });
const session = host.session({ approvals: 'client' });
const call = (at) => session.call(`mcp__many__tool_${at % TOOLS}`, { path: 'a' });
for (let at = 0; at < CALLS; at += 100)
  await Promise.all(Array.from({ length: 100 }, (_, more) => call(at + more)));

async function measure() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  // A browser that has just started has more to do than to show a page.
  await (await browser.newPage()).goto(`${gateway.page}icon.svg`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  let bytes = 0;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const isFile = new Map();
  devtools.on('Network.responseReceived', ({ requestId, response }) =>
    isFile.set(requestId, !response.url.includes('/api/')),
  );
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (isFile.get(requestId)) bytes += encodedDataLength;
  });
  await page.addInitScript(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) => {
      for (const { duration, startTime } of list.getEntries()) globalThis.tasks.push({ duration, startTime });
    }).observe({ type: 'longtask', buffered: true });
    // Useful: the first server is on the screen.
    const look = () => {
      if (document.querySelector('.tile')) globalThis.usefulAt = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${gateway.page}#token=${TOKEN}`);
  await page.waitForSelector('.tile');
  await page.waitForSelector('.live[data-tone=good]');
  await page.waitForTimeout(500);
  const useful = await page.evaluate(() => globalThis.usefulAt);
  const loading = await longest(page);

  await page.keyboard.press('2');
  await page.waitForSelector('.row');
  for (let turns = 0; turns < 30; turns += 1)
    await page.mouse.wheel(0, 900).then(() => page.waitForTimeout(16));
  await page.fill('.search', 'issue table');
  await page.waitForSelector('.reason');
  await page.fill('.search', '');
  const searching = await longest(page);

  await page.keyboard.press('Escape');
  await page.keyboard.press('3');
  await page.waitForSelector('.call-row.row');
  await page.mouse.move(700, 500);
  const coming = (async () => {
    for (let at = 0; at < 1_000; at += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, more) => call(at + more)));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (let turns = 0; turns < 60; turns += 1)
    await page.mouse.wheel(0, 2_000).then(() => page.waitForTimeout(16));
  await coming;
  await page.waitForTimeout(300);
  const timeline = await longest(page);
  await browser.close();
  return { bytes, useful, loading, searching, timeline };
}

/** The longest task since this was last asked; what is shorter than 50 ms the browser does not tell. */
async function longest(page) {
  return page.evaluate(() => Math.max(0, ...globalThis.tasks.splice(0).map(({ duration }) => duration)));
}

const runs = [];
for (let at = 0; at < RUNS; at += 1) runs.push(await measure());
await gateway.close();
await host.close();
await rm(home, { recursive: true, force: true });

const sorted = (key) => runs.map((run) => run[key]).toSorted((a, b) => a - b);
const row = (label, key, unit, limit) => {
  const values = sorted(key);
  const middle = values[Math.floor(values.length / 2)];
  const told = (value) => (unit === 'KB' ? (value / 1024).toFixed(1) : value.toFixed(0));
  process.stdout.write(
    `${label.padEnd(44)} ${told(middle).padStart(6)} ${unit}  (${told(values[0])} to ${told(values.at(-1))}), at most ${told(limit)}: ${middle <= limit ? 'yes' : 'NO'}\n`,
  );
};
process.stdout.write(`${RUNS} runs, ${TOOLS} tools, ${CALLS} calls\n`);
row('files of the page, as sent', 'bytes', 'KB', MAX_BYTES);
row('first useful paint', 'useful', 'ms', MAX_PAINT_MS);
row('longest task: loading', 'loading', 'ms', MAX_TASK_MS);
row('longest task: tools, scrolled and searched', 'searching', 'ms', MAX_TASK_MS);
row('longest task: calls, scrolled while they come', 'timeline', 'ms', MAX_TASK_MS);
