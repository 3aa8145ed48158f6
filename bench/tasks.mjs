/**
 * Forty tasks over six real servers (filesystem, git, memory, sqlite, everything, playwright on local pages), each with a
 * reference sequence of calls that is checked by its end state: tokens of definitions, arguments and results, before and
 * after. The tasks are data, in tasks/; tasks/world.mjs has the servers and the checks.
 *
 * Before: every definition is listed, results are read whole, and data is written out in arguments. After: tools are found
 * by search, long results are stored, parts are selected, and data is passed on by reference. Program: one program makes
 * the calls (code mode), after one that searches for tools whose signatures the description of `run` does not have.
 *
 *   node bench/tasks.mjs [id…]
 */

import { loadTokenCounter } from '../dist/catalog/token-counter.js';
import { parseSelect } from '../dist/lib/jmespath/jmespath-select.js';
import { record } from './records.mjs';
import { inPlace, loadTasks, openTaskWorld, prepareTask, verifyTask } from './tasks/world.mjs';
import { programOf, searchProgram } from './tasks-programs.mjs';

/** A session of an agent has a smaller limit than the default, which is for single results. */
const LIMIT_AFTER = 1_000;
const UNLIMITED = 100_000_000;
const FOUND = 3;
const MAX_SHOWN_FAILURES = 10;

const tasks = loadTasks(process.argv.slice(2));
const count = await loadTokenCounter();
const written = (value) => count(typeof value === 'string' ? value : JSON.stringify(value));
const costOf = (run) => run.definitions + run.arguments + run.results;
const total = (runs) => runs.reduce((sum, run) => sum + costOf(run), 0);

/** Tokens of one task; `sent`: every turn of a model sends the definitions and all turns before it again. */
class Cost {
  constructor(id, definitions) {
    Object.assign(this, { id, definitions, arguments: 0, results: 0, sent: 0 });
  }

  turn(argumentTokens, resultTokens) {
    this.sent += costOf(this);
    this.arguments += argumentTokens;
    this.results += resultTokens;
  }

  /** With the turn that answers. */
  ended(failure) {
    this.turn(0, 0);
    return failure === undefined ? { ...this } : { ...this, failure };
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
  const sum = (key) => runs.reduce((whole, run) => whole + run[key], 0);
  const done = runs.filter(({ failure }) => failure === undefined).length;
  console.log(
    `| ${done} of ${runs.length} | ${name} | ${sum('definitions')} | ${sum('arguments')} | ${sum('results')} | ${total(runs)} | ${sum('sent')} |`,
  );
}
const shares = after.map((run, at) => costOf(run) / costOf(before[at])).sort((a, b) => a - b);
console.log(
  `\nafter: ${percent(total(after) / total(before))} of before; the median task ${percent(shares[shares.length >> 1])}, the worst ${percent(shares.at(-1))}`,
);
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
const failed = [...before, ...after, ...program].filter((run) => run.failure !== undefined);
for (const { id, failure } of failed.slice(0, MAX_SHOWN_FAILURES)) console.log(`${id}: ${failure}`);
if (failed.length > 0) process.exitCode = 1;

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

async function runAll(mode) {
  const world = await openTaskWorld(
    { toolSearch: mode !== 'before', codeMode: mode === 'program' },
    { maxOutputTokens: mode === 'after' ? LIMIT_AFTER : UNLIMITED },
  );
  try {
    const runs = [];
    for (const task of tasks) runs.push(await runTask(task, mode, world));
    return runs;
  } finally {
    await world.close();
  }
}

async function runTask(task, mode, world) {
  await prepareTask(task, world);
  const session = world.host.session({ approve: () => 'allow' });
  const cost = new Cost(task.id, written(definitionsIn(session)));
  if (mode === 'program') return runProgram(session, task, world, cost);
  const saved = new Map();
  const known = new Set();
  try {
    for (const step of task.calls) {
      if (mode === 'after' && !known.has(step.tool)) {
        const query = { query: step.search, limit: FOUND };
        const { content } = await session.call('tool_search', query);
        cost.turn(written(query), written(content[0].text));
        for (const name of foundIn(content[0].text)) known.add(name);
        if (!known.has(step.tool)) throw new Error(`"${step.search}" does not find ${step.tool}`);
      }
      const args = filled(JSON.parse(inPlace(JSON.stringify(step.arguments), task, world)), saved, mode);
      const select = mode === 'after' ? step.select : undefined;
      const call = { name: step.tool, arguments: args, ...(select === undefined ? {} : { select }) };
      const argumentTokens = written(mode === 'after' ? call : args);
      const result = await session.call(step.tool, args, { select });
      const text = textOf(result);
      cost.turn(argumentTokens, written(text));
      if (result.isError) throw new Error(`${step.tool}: ${text.slice(0, 300)}`);
      if (step.as !== undefined)
        saved.set(step.as, {
          text,
          ref: result.truncated?.ref,
          select: select === undefined ? step.select : undefined,
          structured: result.structuredContent,
        });
    }
    await verifyTask(task, world);
    return cost.ended();
  } catch (error) {
    return cost.ended(`${mode}: ${error.message}`);
  } finally {
    session.end();
  }
}

/** Runs the reference program of a task. */
async function runProgram(session, task, world, cost) {
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
    await run(programOf(task, (text) => inPlace(text, task, world)));
    await verifyTask(task, world);
    return cost.ended();
  } catch (error) {
    return cost.ended(`program: ${error.message}`);
  } finally {
    session.end();
  }
}

/** The tools that a search answer names, spelled as in the tasks. */
function foundIn(answer) {
  return answer.split('\n').flatMap((line) => /^(?:mcp__)?([\w-]+)\(/.exec(line)?.[1] ?? []);
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
    const data = early === undefined ? dataOf(text) : parseSelect(early)(structured ?? dataOf(text));
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
