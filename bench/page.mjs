/**
 * The page in Chromium: bytes sent, first useful paint, and the longest task while 1,000 tools, 10,000 calls and 50
 * questions are scrolled, searched, answered and added to. Each run is a new browser; medians with their spread.
 *
 *   node scripts/build.mjs && node bench/page.mjs [runs] [--trace <file>]
 *
 * A trace of the first run, for the Performance panel of Chromium, shows what a long task does.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { createHost } from '../dist/index.js';
import { serveHttp } from '../dist/serve/index.js';
import { scriptedServer } from '../dist/testing/index.js';

const {
  values: { trace },
  positionals: [wanted = '5'],
} = parseArgs({ allowPositionals: true, options: { trace: { type: 'string' } } });
const RUNS = Number(wanted);
const TOOLS = 1_000;
const CALLS = 10_000;
/** Each has five approvals and five forms. */
const ASKING_SERVERS = 5;
const QUESTIONS_EACH = 5;
const TOKEN = 'for-the-bench-only';
/** Without the sampling profiler, which takes 20 ms of the first task. */
const TRACED = ['devtools.timeline', 'toplevel', 'v8', 'blink.user_timing', 'loading'];
const MARK = 'end of ';
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

const form = {
  mode: 'form',
  message: 'Where should the report go?',
  requestedSchema: {
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email', title: 'E-mail' },
      often: { type: 'string', title: 'How often', enum: ['daily', 'weekly'], default: 'weekly' },
    },
    required: ['email'],
  },
};
const asking = Object.fromEntries(
  Array.from({ length: ASKING_SERVERS }, (_, at) => [
    `asks_${at}`,
    scriptedServer({
      eras: 'legacy',
      tools: {
        write: { annotations: { destructiveHint: true }, run: () => 'written' },
        form: (_args, { request }) => request('elicitation/create', form).then(() => 'sent'),
      },
    }),
  ]),
);

const home = await mkdtemp(join(tmpdir(), 'plugboard-bench-'));
await writeFile(join(home, 'config.json'), JSON.stringify({ permissions: { ask: ['asks_*__write'] } }));
const server = scriptedServer({ tools });
const host = await createHost({
  home,
  cwd: home,
  watch: false,
  servers: {
    many: { inProcess: server, lifecycle: 'eager' },
    ...Object.fromEntries(
      Object.entries(asking).map(([name, each]) => [name, { inProcess: each, lifecycle: 'eager' }]),
    ),
  },
});
await host.ready();
const gateway = await serveHttp(host, { port: 0, manage: { token: TOKEN } });
const session = host.session({ approvals: 'client' });
const call = (at) => session.call(`mcp__many__tool_${at % TOOLS}`, { path: 'a' });
for (let at = 0; at < CALLS; at += 100)
  await Promise.all(Array.from({ length: 100 }, (_, more) => call(at + more)));

const api = (path, body) =>
  fetch(new URL(path, gateway.page), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).then((answer) => answer.json());
const args = { path: '/srv/reports', keep: ['a', 'b'], options: { force: true } };
for (const name of Object.keys(asking))
  for (let each = 0; each < QUESTIONS_EACH; each += 1)
    for (const tool of ['write', 'form'])
      void api('/api/call', { name: `mcp__${name}__${tool}`, arguments: args }).catch(() => {});
const QUESTIONS = ASKING_SERVERS * QUESTIONS_EACH * 2;
while ((await api('/api/approvals')).approvals.length < QUESTIONS)
  await new Promise((resolve) => setTimeout(resolve, 20));

async function measure(traceFile) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  // A browser that has just started has more to do than to show a page.
  await (await browser.newPage()).goto(`${gateway.page}icon.svg`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const trace = await startTrace(browser);
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
  const loading = await endPhase(page, 'loading');

  await page.keyboard.press('2');
  await page.waitForSelector('.row');
  for (let turns = 0; turns < 30; turns += 1)
    await page.mouse.wheel(0, 900).then(() => page.waitForTimeout(16));
  await page.fill('.search', 'issue table');
  await page.waitForSelector('.reason');
  await page.fill('.search', '');
  const searching = await endPhase(page, 'searching');

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
  const timeline = await endPhase(page, 'timeline');

  await page.keyboard.press('4');
  await page.waitForSelector('.question');
  for (let turns = 0; turns < 20; turns += 1)
    await page.mouse.wheel(0, 900).then(() => page.waitForTimeout(16));
  const questions = await endPhase(page, 'questions');
  const events = await trace.stop();
  await browser.close();
  if (traceFile !== undefined) await writeFile(traceFile, JSON.stringify({ traceEvents: events }));
  return { bytes, useful, loading, searching, timeline, questions, cpu: cpuOfTasks(events) };
}

/** Ends a phase: returns the longest task in it, as the browser reports it (none below 50 ms), and marks the trace. */
async function endPhase(page, name) {
  return page.evaluate((mark) => {
    performance.mark(mark);
    return Math.max(0, ...globalThis.tasks.splice(0).map(({ duration }) => duration));
  }, MARK + name);
}

async function startTrace(browser) {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const traceConfig = { recordMode: 'recordAsMuchAsPossible', includedCategories: TRACED };
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  return {
    async stop() {
      const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
      await session.send('Tracing.end');
      await complete;
      return events;
    },
  };
}

/** Processor time of the longest task of the page in each phase; unlike wall time, other programs do not add to it. */
function cpuOfTasks(events) {
  const marks = events.filter(({ name }) => name.startsWith(MARK)).toSorted((a, b) => a.ts - b.ts);
  const [{ pid, tid }] = marks;
  const tasks = events.filter(
    (event) => event.pid === pid && event.tid === tid && event.name.endsWith('RunTask') && event.tdur > 0,
  );
  const longest = {};
  let from = 0;
  for (const { name, ts } of marks) {
    const own = tasks.filter((task) => task.ts >= from && task.ts < ts).map(({ tdur }) => tdur / 1000);
    longest[name.slice(MARK.length)] = Math.max(0, ...own);
    from = ts;
  }
  return longest;
}

const runs = [];
for (let at = 0; at < RUNS; at += 1) runs.push(await measure(at === 0 ? trace : undefined));
await gateway.close();
await host.close();
await rm(home, { recursive: true, force: true });

const row = (label, of, unit, limit) => {
  const values = runs.map(of).toSorted((a, b) => a - b);
  const middle = values[Math.floor(values.length / 2)];
  const shown = (value) => (unit === 'KB' ? (value / 1024).toFixed(1) : value.toFixed(0));
  process.stdout.write(
    `${label.padEnd(44)} ${shown(middle).padStart(6)} ${unit}  (${shown(values[0])} to ${shown(values.at(-1))}), at most ${shown(limit)}: ${middle <= limit ? 'yes' : 'NO'}\n`,
  );
};
process.stdout.write(`${RUNS} runs, ${TOOLS} tools, ${CALLS} calls, ${QUESTIONS} questions\n`);
row('files of the page, as sent', ({ bytes }) => bytes, 'KB', MAX_BYTES);
row('first useful paint', ({ useful }) => useful, 'ms', MAX_PAINT_MS);
for (const [phase, label] of Object.entries({
  loading: 'loading',
  searching: 'tools, scrolled and searched',
  timeline: 'calls, scrolled while they come',
  questions: 'questions, opened and scrolled',
})) {
  row(`longest task: ${label}`, (run) => run[phase], 'ms', MAX_TASK_MS);
  row('  processor time of it', ({ cpu }) => cpu[phase], 'ms', MAX_TASK_MS);
}
// The calls that wait for an answer would keep the process for minutes.
process.exit();
