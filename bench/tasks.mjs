/**
 * Forty tasks over real servers (filesystem, memory, everything, git), each with a reference sequence of calls that is
 * checked by its end state: tokens of definitions, arguments and results, before and after. The tasks are data, in tasks/.
 *
 * Before: every definition is listed, results are read whole, and data is written out in arguments. After: tools are found
 * by search, long results are stored, parts are selected, and data is passed on by reference. Program: one program makes
 * the calls (code mode), after one that searches for tools whose signatures the description of `run` does not have.
 *
 *   node bench/tasks.mjs [id…]
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadTokenCounter } from '../dist/catalog/token-counter.js';
import { createHost } from '../dist/index.js';
import { parseSelect } from '../dist/lib/jmespath/jmespath-select.js';
import { record } from './records.mjs';
import { programOf, searchProgram } from './tasks-programs.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = join(ROOT, '.cache', 'real-servers', 'node_modules');
const TASKS = join(ROOT, 'bench', 'tasks');
/** A session of an agent has a smaller limit than the default, which is for single results. */
const LIMIT_AFTER = 1_000;
const UNLIMITED = 100_000_000;
const FOUND = 3;
const MAX_SHOWN_FAILURES = 5;

const only = process.argv.slice(2);
const tasks = readdirSync(TASKS)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => JSON.parse(readFileSync(join(TASKS, file), 'utf8')))
  .filter(({ id }) => only.length === 0 || only.includes(id));
const count = await loadTokenCounter();
const written = (value) => count(typeof value === 'string' ? value : JSON.stringify(value));

/** Tokens of one task; `sent`: every turn of a model sends the definitions and all turns before it again. */
class Cost {
  constructor(id, definitions) {
    Object.assign(this, { id, definitions, arguments: 0, results: 0, sent: 0 });
  }

  turn(argumentTokens, resultTokens) {
    this.sent += this.definitions + this.arguments + this.results;
    this.arguments += argumentTokens;
    this.results += resultTokens;
  }

  /** With the turn that answers. */
  ended() {
    this.turn(0, 0);
    return { ...this };
  }
}

const before = await runAll('before');
const after = await runAll('after');
const program = await runAll('program');
console.log(
  '| tasks | | definitions | arguments | results | all | sent over all turns |\n|---|---|---|---|---|---|---|',
);
for (const [name, runs] of [
  ['before', before],
  ['after', after],
  ['program', program],
]) {
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
  const all = sum('definitions') + sum('arguments') + sum('results');
  const done = runs.filter(({ failure }) => failure === undefined).length;
  console.log(
    `| ${done} of ${runs.length} | ${name} | ${sum('definitions')} | ${sum('arguments')} | ${sum('results')} | ${all} | ${sum('sent')} |`,
  );
}
const total = (runs) => runs.reduce((sum, run) => sum + run.definitions + run.arguments + run.results, 0);
console.log(`\nafter: ${((total(after) / total(before)) * 100).toFixed(1)} % of before`);
record({
  measure: `tokens of ${tasks.length} tasks`,
  name: 'after',
  value: total(after),
  unit: 'tokens',
  ratio: total(after) / total(before),
  base: 'before',
});
for (const [name, base] of [
  ['before', before],
  ['after', after],
]) {
  const ratio = total(program) / total(base);
  const sent = (runs) => runs.reduce((sum, run) => sum + run.sent, 0);
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  console.log(`program: ${percent(ratio)} of ${name}; over all turns ${percent(sent(program) / sent(base))}`);
  record({
    measure: `tokens of ${tasks.length} tasks`,
    name: `program, of ${name}`,
    value: total(program),
    unit: 'tokens',
    ratio,
    base: name,
  });
}
for (const { id, failure } of [...before, ...after, ...program]
  .filter((run) => run.failure !== undefined)
  .slice(0, MAX_SHOWN_FAILURES))
  console.log(`${id}: ${failure}`);

async function runAll(mode) {
  const folder = mkdtempSync(join(tmpdir(), 'plugboard-tasks-'));
  const host = await openHost(folder, mode);
  try {
    const { failed } = await host.ready();
    if (failed.length > 0)
      throw new Error(failed.map(({ name, error }) => `${name}: ${error.message}`).join('; '));
    const runs = [];
    for (const task of tasks) runs.push(await runTask(host, task, mode, folder));
    return runs;
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function openHost(folder, mode) {
  const work = join(folder, 'work');
  mkdirSync(work);
  const server = (name, args = [], env = {}) => ({
    command: process.execPath,
    args: [join(MODULES, name, 'dist', 'index.js'), ...args],
    env,
    maxOutputTokens: mode === 'after' ? LIMIT_AFTER : UNLIMITED,
  });
  return createHost({
    home: join(folder, 'home'),
    configuration: false,
    watch: false,
    approve: () => 'allow',
    toolSearch: mode !== 'before',
    codeMode: mode === 'program',
    servers: {
      files: server('@modelcontextprotocol/server-filesystem', [work]),
      memory: server('@modelcontextprotocol/server-memory', [], {
        MEMORY_FILE_PATH: join(folder, 'memory.jsonl'),
      }),
      everything: server('@modelcontextprotocol/server-everything'),
      git: server('@cyanheads/git-mcp-server', [], { MCP_LOG_LEVEL: 'error' }),
    },
  });
}

async function runTask(host, task, mode, folder) {
  const root = join(folder, 'work', task.id);
  mkdirSync(root);
  for (const [path, made] of Object.entries(task.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), contentOf(made, task.id));
  }
  const session = host.session({ approve: () => 'allow' });
  const cost = new Cost(task.id, written(definitionsIn(session)));
  if (mode === 'program') return runProgram(session, task, { root, folder, cost });
  const saved = new Map();
  const searched = new Set();
  try {
    for (const step of task.calls) {
      if (mode === 'after' && !searched.has(step.search)) {
        searched.add(step.search);
        const { content } = await session.call('tool_search', { query: step.search, limit: FOUND });
        cost.turn(written({ query: step.search, limit: FOUND }), written(content[0].text));
      }
      const args = filled(JSON.parse(replaced(JSON.stringify(step.arguments), task.id, root)), saved, mode);
      const select = mode === 'after' ? step.select : undefined;
      const call = { name: step.tool, arguments: args, ...(select === undefined ? {} : { select }) };
      const argumentTokens = written(mode === 'after' ? call : args);
      const result = await session.call(step.tool, args, { select });
      const text = textOf(result);
      cost.turn(argumentTokens, written(text));
      if (result.isError) throw new Error(text.slice(0, 200));
      if (step.as !== undefined)
        saved.set(step.as, {
          text,
          ref: result.truncated?.ref,
          select: select === undefined ? step.select : undefined,
          structured: result.structuredContent,
        });
    }
    for (const check of task.checks) verify(check, task, root, folder);
    return cost.ended();
  } catch (error) {
    return { ...cost.ended(), failure: error.message };
  } finally {
    session.end();
  }
}

/** Runs the reference program of a task. */
async function runProgram(session, task, { root, folder, cost }) {
  const run = async (code) => {
    const result = await session.call('run', { code });
    const text = textOf(result);
    cost.turn(written({ code }), written(text));
    if (result.isError) throw new Error(text.slice(0, 300));
  };
  try {
    const { description } = session.tools().find(({ name }) => name === 'run');
    const search = searchProgram(task, description, FOUND);
    if (search !== undefined) await run(search);
    await run(programOf(task, (text) => replaced(text, task.id, root)));
    for (const check of task.checks) verify(check, task, root, folder);
    return cost.ended();
  } catch (error) {
    return { ...cost.ended(), failure: error.message };
  } finally {
    session.end();
  }
}

function definitionsIn(session) {
  return session
    .tools()
    .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
    .join('\n');
}

function textOf({ content, structuredContent }) {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length > 0 ? texts.join('\n') : JSON.stringify(structuredContent);
}

/** Replaces `{ $use, select }`: by a reference if the result is stored, else by the text that a model would write. */
function filled(value, saved, mode) {
  if (Array.isArray(value)) return value.map((item) => filled(item, saved, mode));
  if (typeof value !== 'object' || value === null) return value;
  if (value.$use !== undefined) {
    const { text, ref, select: early, structured } = saved.get(value.$use);
    if (mode === 'after' && ref !== undefined)
      return { $ref: ref, ...(value.select === undefined ? {} : { select: value.select }) };
    const data = early === undefined ? dataOf(text) : parseSelect(early)(structured);
    return value.select === undefined ? (early === undefined ? text : data) : parseSelect(value.select)(data);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filled(member, saved, mode)]));
}

function dataOf(text) {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

function contentOf({ lines, text, rows, name = 'row' }, id) {
  if (lines !== undefined)
    return Array.from({ length: lines }, (_, n) => `${text.replaceAll('{n}', String(n))}\n`).join('');
  const prefix = name.replaceAll('{id}', id);
  return JSON.stringify(
    Array.from({ length: rows }, (_, n) => ({ id: n, name: `${prefix} ${n}`, group: n % 10 })),
  );
}

function replaced(text, id, root) {
  return text.replaceAll('{root}', root).replaceAll('{id}', id);
}

/** Throws if the end state is another one. */
function verify(check, task, root, folder) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const fail = (what) => {
    throw new Error(`${what}: ${JSON.stringify(check).slice(0, 200)}`);
  };
  if (check.missing !== undefined && existsSync(join(root, check.missing))) fail('still exists');
  if (check.file !== undefined) {
    const text = read(check.file);
    const [from = '', to = ''] = check.replace ?? [];
    if (check.sameAs !== undefined && text !== read(check.sameAs).replace(from, to)) fail('another content');
    if (check.equals !== undefined && text !== check.equals) fail('another text');
    if (check.contains !== undefined && !text.includes(check.contains)) fail('the text is not there');
    if (check.matches !== undefined && !new RegExp(check.matches).test(text)) fail('the text does not match');
    if (check.selects !== undefined) {
      const [source, expression] = check.selects;
      if (text !== JSON.stringify(parseSelect(expression)(JSON.parse(read(source)))))
        fail('another selection');
    }
  }
  if (check.git !== undefined) {
    const printed = execFileSync('git', ['-C', join(root, check.in), ...check.git], { encoding: 'utf8' });
    if (printed !== check.equals) fail(`git prints ${JSON.stringify(printed.slice(0, 100))}`);
  }
  verifyGraph(check, task, folder, fail);
}

function verifyGraph(check, { id }, folder, fail) {
  if (check.entities === undefined && check.observations === undefined && check.relations === undefined)
    return;
  const graph = readFileSync(join(folder, 'memory.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const named = (text) => text.replaceAll('{id}', id);
  const entities = graph.filter(({ type }) => type === 'entity');
  if (
    check.entities !== undefined &&
    entities.filter(({ name }) => name.startsWith(named(check.prefix))).length !== check.entities
  )
    fail('another number of entities');
  if (
    check.observations !== undefined &&
    entities.find(({ name }) => name === named(check.entity))?.observations.length !== check.observations
  )
    fail('another number of observations');
  const relations = graph.filter(
    ({ type, from }) => type === 'relation' && from.startsWith(named(check.from ?? '')),
  );
  if (check.relations !== undefined && relations.length !== check.relations)
    fail('another number of relations');
}
