/**
 * Code mode: what a run and an inner call add to the calls themselves, how hostile programs end, and the input tokens of
 * recorded conversations with programs in place of single calls.
 *
 *   node bench/code-mode.mjs [file of transcripts]
 *
 * The transcripts are those of LiveMCPBench (Apache-2.0), by default `../shared/codemode/livemcpbench-sonnet4.json.gz` where
 * it is there. They are counted as recorded (every turn sends the context again), and with programs that are split where a
 * call has an argument of 12 or more characters that appears neither in the prompt, nor in an earlier argument or result.
 */

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { programLine } from '../dist/catalog/run-tool-definition.js';
import { loadTokenCounter } from '../dist/catalog/token-counter.js';
import { createHost } from '../dist/index.js';
import { HOSTILE } from '../test/fixtures/hostile-programs.mjs';
import { record } from './records.mjs';

const ROUNDS = 15;
const CALLS = 200;
const MODEL_MS = 1_500;
const ANSWER_TOKENS = 500;
const MIN_COMPOSED_CHARS = 12;
const CPU_MS = 300;
const server = fileURLToPath(new URL('../test/fixtures/programs-server.mjs', import.meta.url));
const transcripts =
  process.argv[2] ??
  fileURLToPath(new URL('../../shared/codemode/livemcpbench-sonnet4.json.gz', import.meta.url));

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const timed = async (act) => {
  const start = performance.now();
  await act();
  return performance.now() - start;
};

await overheads();
await hostile();
if (existsSync(transcripts)) await conversations(transcripts);
else console.log(`The transcripts are not there: ${transcripts}`);

function openHost(codeMode) {
  return createHost({
    home: false,
    configuration: false,
    codeMode,
    servers: { demo: { command: process.execPath, args: [server], approval: 'approve' } },
  });
}

/** First runs in new hosts, with the modules loaded and the server connected; then calls inside and outside, interleaved. */
async function overheads() {
  const [firsts, nexts, added] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const host = await openHost(true);
    await host.ready();
    await host.call('mcp__demo__add', { a: 1, b: 2 });
    host.tools();
    // The time that a model needs to write a program.
    await pause(MODEL_MS);
    firsts.push(await timed(() => host.call('run', { code: 'return 1' })));
    nexts.push(await timed(() => host.call('run', { code: 'return 1' })));
    const outside = await timed(async () => {
      for (let at = 0; at < CALLS; at += 1) await host.call('mcp__demo__add', { a: at, b: 1 });
    });
    const inside = await timed(() =>
      host.call('run', { code: `for (let a = 0; a < ${CALLS}; a += 1) await tools.demo.add({ a, b: 1 });` }),
    );
    added.push((inside - nexts.at(-1) - outside) / CALLS);
    await host.close();
  }
  for (const [measure, values] of [
    ['the first run of a host', firsts],
    ['the next run', nexts],
    ['an inner call, over host.call', added],
  ]) {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    console.log(`${measure}: ${median(values).toFixed(2)} ms [${least.toFixed(2)} to ${most.toFixed(2)}]`);
    record({ measure, name: 'plugboard', value: median(values), unit: 'ms' });
  }
}

/** The longest time over the deadline, and the most memory, of the hostile programs. */
async function hostile() {
  const host = await openHost({ cpuMs: CPU_MS, wallMs: 5_000, calls: 50, outputTokens: 1_000 });
  await host.ready();
  await host.call('run', { code: 'return 1' });
  const base = process.memoryUsage.rss();
  let [over, most, late] = [0, 0, 0];
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  for (const [name, code] of HOSTILE) {
    let deadline = CPU_MS;
    const ms = await timed(() =>
      host.call('run', { code }).catch(({ message }) => {
        // Programs that wait are bounded by the number of calls or the time in all.
        if (!message.includes('computed')) deadline = Number.POSITIVE_INFINITY;
      }),
    );
    if (ms - deadline > 100) {
      late += 1;
      console.log(`  late: ${name}, ${(ms - deadline).toFixed(0)} ms over its deadline`);
    }
    if (Number.isFinite(deadline)) over = Math.max(over, ms - deadline);
  }
  clearInterval(watch);
  await host.close();
  const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
  console.log(
    `${HOSTILE.length} hostile programs: at most ${over.toFixed(0)} ms over the deadline, ${late} by more than 100 ms; ` +
      `memory of the process ${megabytes(base)} MB before, at most ${megabytes(most)} MB`,
  );
}

async function conversations(file) {
  const counter = await loadTokenCounter();
  const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
  const count = (value) => counter(text(value));
  const tasks = JSON.parse(gunzipSync(readFileSync(file))).filter(({ messages }) => messages);
  const sums = { recorded: 0, split: 0, compact: 0, programs: 0 };
  for (const { messages } of tasks) {
    const toolOf = new Map();
    const [programs, searches, compact] = [[], [], []];
    let [context, prompt, promptText, seenArguments, seenResults] = [0, 0, '', '', ''];
    for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
      const tokens =
        role === 'tool' ? count(content) : count(content || '') + (calls.length > 0 ? count(calls) : 0);
      if (role === 'assistant') {
        sums.recorded += context;
        for (const { id: called, function: made } of calls) {
          toolOf.set(called, made.name);
          if (made.name !== 'execute-tool') continue;
          const values = stringsIn(made.arguments);
          const isComposed = values.some(
            (value) =>
              value.length >= MIN_COMPOSED_CHARS &&
              ![promptText, seenArguments, seenResults].some((seen) => seen.includes(value)),
          );
          if (programs.length === 0 || (isComposed && seenResults !== '')) programs.push(0);
          programs[programs.length - 1] += count(made.arguments);
          seenArguments += made.arguments + values.join('\n');
        }
      } else if (role !== 'tool') {
        prompt += tokens;
        promptText += text(content);
      } else {
        seenResults += text(content);
        if (toolOf.get(id) === 'route') {
          searches.push(tokens);
          compact.push(count(compactAnswer(text(content))));
        }
      }
      context += tokens;
    }
    sums.split += costOf(prompt, searches, programs);
    sums.compact += costOf(prompt, compact, programs);
    sums.programs += programs.length;
  }
  const per = (tokens) => Math.round(tokens / tasks.length).toLocaleString('en');
  const fewer = (tokens) => (100 - (100 * tokens) / sums.recorded).toFixed(1);
  console.log(`${tasks.length} recorded tasks: ${per(sums.recorded)} input tokens a task`);
  for (const [name, tokens] of [
    ['programs', sums.split],
    ['programs, compact search answers', sums.compact],
  ]) {
    console.log(`${name}: ${per(tokens)}, ${fewer(tokens)} % fewer`);
    record({
      measure: `input tokens of ${tasks.length} recorded tasks`,
      name,
      value: tokens,
      unit: 'tokens',
      ratio: tokens / sums.recorded,
      base: 'recorded',
    });
  }
  console.log(`programs a task: ${(sums.programs / tasks.length).toFixed(1)}`);
}

/** Input tokens of all turns: one for each search and each program, and the one that answers. */
function costOf(prompt, searches, programs) {
  let [now, total] = [prompt, 0];
  const average = searches.reduce((sum, tokens) => sum + tokens, 0) / (searches.length || 1);
  for (const _ of searches) {
    total += now;
    now += average;
  }
  for (const tokens of programs) {
    total += now;
    now += tokens + ANSWER_TOKENS;
  }
  return total + now;
}

function stringsIn(json) {
  const all = [];
  const walk = (value) => {
    if (typeof value === 'string') all.push(value);
    else if (value !== null && typeof value === 'object') Object.values(value).forEach(walk);
  };
  try {
    walk(JSON.parse(json));
    return all;
  } catch {
    return [json];
  }
}

/** The tools of a recorded search answer as `search()` returns them in a program. */
function compactAnswer(answer) {
  const tools = answer.split(/\\n- server_name: /).slice(1);
  if (tools.length === 0) return answer;
  return tools
    .map((part) => {
      const server = /^(.*?)\\n/.exec(part)?.[1] ?? '';
      const tool = /tool_name: (.*?)\\n/.exec(part)?.[1] ?? '';
      const description = /tool_description: ([\s\S]*?)\\n {2}inputschema:/.exec(part)?.[1] ?? '';
      const schema = /inputschema:([\s\S]*)$/.exec(part)?.[1] ?? '';
      const fields = [...schema.matchAll(/\\n {4}([\w-]+): ['"]?\((Optional, )?([\w, ]+)\)/g)];
      const properties = Object.fromEntries(fields.map(([, name, , type]) => [name, { type: type.trim() }]));
      const required = fields.flatMap(([, name, optional]) => (optional === undefined ? [name] : []));
      const written = description.replaceAll('\\n', '\n').replace(/^['"|>\s-]+/, '');
      return programLine({
        server,
        tool,
        description: written,
        inputSchema: { type: 'object', properties, required },
      });
    })
    .join('\n');
}
