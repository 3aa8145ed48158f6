/**
 * What safety costs: a start from the cache with 100 servers and 5,000 tools, once with consent, pins and rules and
 * once without, and how fast text is cleaned. `node bench/policy.mjs`; needs a build.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../dist/config/home.js';
import { loadConfig } from '../dist/config/load.js';
import { createHost } from '../dist/index.js';
import { clean } from '../dist/policy/clean.js';
import { openTrust } from '../dist/policy/trust.js';
import { scriptedServer } from '../dist/testing/index.js';

const SERVERS = 100;
const TOOLS_EACH = 50;
const ROUNDS = 40;
const CLEANED_BYTES = 64 * 1024 * 1024;

const quantile = (list, part) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * part)];
const median = (list) => quantile(list, 0.5);

const tools = Object.fromEntries(
  Array.from({ length: TOOLS_EACH }, (_, at) => [
    `tool_${at}`,
    {
      description:
        `Does the thing number ${at}: reads what it is given, looks it up and answers with what was found. `.repeat(
          3,
        ),
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          ['path', 'query', 'limit', 'format'].map((key) => [
            key,
            { type: 'string', description: `The ${key} to use.` },
          ]),
        ),
        required: ['path'],
      },
      run: () => '',
    },
  ]),
);

/** A project and a home in which every list is cached; `safe` with consent and pins, else without either. */
async function world(safe) {
  const dir = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const project = join(dir, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(dir, 'home'));
  const mcpServers = Object.fromEntries(
    Array.from({ length: SERVERS }, (_, at) => [
      `s${at}`,
      { command: 'x', args: [String(at)], ...(safe ? {} : { pins: 'off' }) },
    ]),
  );
  writeFileSync(
    safe ? join(project, '.mcp.json') : join(dir, 'home', 'config.json'),
    JSON.stringify({ mcpServers }),
  );
  const home = homeAt(join(dir, 'home'));
  const { servers } = await loadConfig({ cwd: project, home });
  await openTrust({ home, env: {} }).grant(servers);
  const server = scriptedServer({ eras: 'legacy', tools });
  const options = { cwd: project, home: home.dir, env: {}, watch: false };
  const first = await createHost({ ...options, connect: 'all', replaceTransport: () => server.transport() });
  await first.ready();
  await first.close();
  const start = async () => {
    // The work of this process and not the time of day: whatever else the machine does is none of ours.
    const began = process.cpuUsage();
    const host = await createHost({ ...options, connect: 'none' });
    const count = host.tools().length && host.servers().reduce((sum, one) => sum + one.tools, 0);
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1000;
    if (count !== SERVERS * TOOLS_EACH) throw new Error(`${count} tools are there`);
    await host.close();
    return ms;
  };
  return { start, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

const [plain, safe] = [await world(false), await world(true)];
const times = { plain: [], safe: [] };
for (let round = 0; round < ROUNDS + 2; round++) {
  // In turns and in either order, so that whatever else the machine does hits both.
  let [a, b] = [0, 0];
  if (round % 2 === 0) [a, b] = [await plain.start(), await safe.start()];
  else [b, a] = [await safe.start(), await plain.start()];
  if (round < 2) continue;
  times.plain.push(a);
  times.safe.push(b);
}
plain.remove();
safe.remove();
const ratios = times.safe.map((ms, at) => ms / times.plain[at]);
const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part).toFixed(3));
// A busy machine only ever adds: the quietest tenth of the rounds says what the work itself costs.
const [bare, guarded] = [quantile(times.plain, 0.1), quantile(times.safe, 0.1)];
process.stdout.write(
  `start from cache, ${SERVERS} servers, ${SERVERS * TOOLS_EACH} tools: without ${bare.toFixed(1)} ms of CPU, ` +
    `with consent and pins ${guarded.toFixed(1)} ms, ratio ${(guarded / bare).toFixed(3)} (at most 1.1); ` +
    `pairs ${middle} (${low} to ${high})\n`,
);

function throughput(name, text) {
  const bytes = Buffer.byteLength(text);
  const rounds = Math.ceil(CLEANED_BYTES / bytes);
  const rates = [];
  for (let round = 0; round < 7; round++) {
    const began = performance.now();
    for (let at = 0; at < rounds; at++) clean(text);
    rates.push((bytes * rounds) / 1e6 / ((performance.now() - began) / 1000));
  }
  process.stdout.write(
    `clean, ${name}: ${median(rates).toFixed(0)} MB/s${clean(text) === text ? ', unchanged' : ''}\n`,
  );
}

const ascii = 'The quick brown fox jumps over the lazy dog.\n'.repeat(2_000);
throughput('ASCII, 90 kB', ascii);
throughput('ASCII, 200 B', ascii.slice(0, 200));
throughput(
  'German, 90 kB',
  'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n'.repeat(1_400),
);
throughput('ANSI colours, 90 kB', '\u001b[31mred\u001b[0m and plain text in a line of a log\n'.repeat(2_000));
