/**
 * The world of the composed tasks: six real servers over one folder, one database and one local web site, the state that a
 * task begins with, and the check of the state that it must end with. For every bench that runs the tasks.
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
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost } from '../../dist/index.js';
import { parseSelect } from '../../dist/lib/jmespath/jmespath-select.js';
import { installTaskServers } from '../../scripts/install-task-servers.mjs';

const TASKS = fileURLToPath(new URL('.', import.meta.url));
const MODULES = fileURLToPath(new URL('../../.cache/task-servers/node_modules', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const MAX_BODY_CHARS = 100_000;

/** Returns the tasks with these ids; without ids, all of them. */
export function loadTasks(ids = []) {
  const tasks = readdirSync(TASKS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(join(TASKS, file), 'utf8')));
  const unknown = ids.filter((id) => !tasks.some((task) => task.id === id));
  if (unknown.length > 0) throw new Error(`There is no task ${unknown.join(', ')}`);
  return ids.length === 0 ? tasks : tasks.filter(({ id }) => ids.includes(id));
}

/** Starts the servers in a new folder. `options` are options of the host; `entry` are keys of every server. */
export async function openTaskWorld(options = {}, entry = {}) {
  if ((await installTaskServers()) !== 0) throw new Error('The servers of the tasks cannot be installed');
  const folder = mkdtempSync(join(tmpdir(), 'plugboard-tasks-'));
  const work = join(folder, 'work');
  mkdirSync(work);
  const site = await openSite(work);
  const database = openDatabase(join(folder, 'tasks.db'));
  const host = await createHost({
    home: join(folder, 'home'),
    configuration: false,
    watch: false,
    approve: () => 'allow',
    servers: serversIn(folder, work, entry),
    ...options,
  });
  const world = { host, folder, site, database, rootOf: (task) => join(work, task.id) };
  const close = async () => {
    await host.close();
    database.close();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const { failed } = await host.ready();
  if (failed.length === 0) return { ...world, close };
  await close();
  throw new Error(failed.map(({ name, error }) => `${name}: ${error.message}`).join('; '));
}

function serversIn(folder, work, entry) {
  const server = (name, program, args = [], env = {}) => ({
    command: process.execPath,
    args: [join(MODULES, name, program), ...args],
    env,
    ...entry,
  });
  const headless = ['--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM];
  return {
    files: server('@modelcontextprotocol/server-filesystem', 'dist/index.js', [work]),
    memory: server('@modelcontextprotocol/server-memory', 'dist/index.js', [], {
      MEMORY_FILE_PATH: join(folder, 'memory.jsonl'),
    }),
    everything: server('@modelcontextprotocol/server-everything', 'dist/index.js'),
    git: server('@cyanheads/git-mcp-server', 'dist/index.js', [], { MCP_LOG_LEVEL: 'error' }),
    sqlite: server('@xexr/mcp-libsql', 'dist/index.js', ['--url', `file:${join(folder, 'tasks.db')}`]),
    browser: server('@playwright/mcp', 'cli.js', [...headless, '--output-dir', join(folder, 'browser')]),
  };
}

/** Serves the folders of all tasks on loopback; the form fields of a POST are written to `submitted.json` of its task. */
async function openSite(work) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const file = resolve(work, `.${path}`);
    if (request.method === 'POST') {
      let body = '';
      request.on('data', (part) => {
        if (body.length < MAX_BODY_CHARS) body += part;
      });
      request.on('end', () => {
        const fields = Object.fromEntries(new URLSearchParams(body));
        writeFileSync(join(dirname(file), 'submitted.json'), JSON.stringify(fields));
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Saved</h1>');
      });
      return;
    }
    const isThere = file.startsWith(work) && existsSync(file);
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(isThere ? readFileSync(file) : 'not found');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      }),
  };
}

/** The database, through the library that its server uses, too: Node 20 has none of its own. */
function openDatabase(file) {
  const { createClient } = createRequire(join(MODULES, '@xexr', 'mcp-libsql', 'package.json'))(
    '@libsql/client',
  );
  return createClient({ url: `file:${file}` });
}

/** Creates the files and tables that a task begins with. */
export async function prepareTask(task, world) {
  const root = world.rootOf(task);
  mkdirSync(root);
  for (const [path, made] of Object.entries(task.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), contentOf(made, task.id));
  }
  for (const sql of task.database ?? []) await world.database.execute(sql);
}

/** Writes the folder, the id and the web site of a task into a text. */
export function inPlace(text, task, world) {
  return text
    .replaceAll('{root}', world.rootOf(task))
    .replaceAll('{site}', `${world.site.origin}/${task.id}`)
    .replaceAll('{id}', task.id);
}

/** Lines or rows by number, between two texts if there are some; a text as it is. */
function contentOf({ lines, text, rows, name = 'row', around: [start, end] = ['', ''] }, id) {
  if (rows !== undefined) {
    const prefix = name.replaceAll('{id}', id);
    return JSON.stringify(
      Array.from({ length: rows }, (_, n) => ({ id: n, name: `${prefix} ${n}`, group: n % 10 })),
    );
  }
  if (lines === undefined) return text;
  const numbered = Array.from({ length: lines }, (_, n) => `${text.replaceAll('{n}', String(n))}\n`);
  return `${start}${numbered.join('')}${end}`;
}

/** Throws if the end state is another one. */
export async function verifyTask(task, world) {
  for (const check of task.checks) {
    const fail = (what) => {
      throw new Error(`${what}: ${JSON.stringify(check).slice(0, 200)}`);
    };
    verifyFile(check, world.rootOf(task), fail);
    verifyGraph(check, task, world, fail);
    if (check.sql === undefined) continue;
    const { rows } = await world.database.execute(check.sql);
    const values = rows.map((row) => Array.from(row));
    if (JSON.stringify(values) !== JSON.stringify(check.rows))
      fail(`the database has ${JSON.stringify(values).slice(0, 200)}`);
  }
}

function verifyFile(check, root, fail) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  if (check.missing !== undefined && existsSync(join(root, check.missing))) fail('still exists');
  if (check.git !== undefined) {
    const printed = execFileSync('git', ['-C', join(root, check.in), ...check.git], { encoding: 'utf8' });
    if (printed !== check.equals) fail(`git prints ${JSON.stringify(printed.slice(0, 100))}`);
  }
  if (check.file === undefined) return;
  const text = read(check.file);
  const [from = '', to = ''] = check.replace ?? [];
  if (check.sameAs !== undefined && text !== read(check.sameAs).replace(from, to)) fail('another content');
  if (check.equals !== undefined && text !== check.equals) fail(`has ${JSON.stringify(text.slice(0, 100))}`);
  if (check.contains !== undefined && !text.includes(check.contains)) fail('the text is not there');
  if (check.matches !== undefined && !new RegExp(check.matches).test(text)) fail('the text does not match');
  if (check.lines !== undefined && text.trim().split('\n').length !== check.lines)
    fail('another number of lines');
  if (check.json !== undefined && JSON.stringify(JSON.parse(text)) !== JSON.stringify(check.json))
    fail(`has ${text.slice(0, 100)}`);
  if (check.selects !== undefined) {
    const [source, expression] = check.selects;
    if (text !== JSON.stringify(parseSelect(expression)(JSON.parse(read(source))))) fail('another selection');
  }
}

function verifyGraph(check, { id }, { folder }, fail) {
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
