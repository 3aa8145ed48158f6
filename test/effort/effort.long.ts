/**
 * The same agent and the same server, written with Plugboard and with what else there is: how many lines each takes, and
 * what happens in the situations that a real agent meets. `--update` writes
 * docs/effort.md.
 */

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installNodes, nodes } from '../../scripts/install-nodes.mjs';
import { installPinned } from '../../scripts/install-pinned.mjs';
import { createHost } from '../../src/index.ts';
import { effortPage } from './page.ts';
import { type ModelRequest, type PlannedCall, scriptedModel } from './scripted-model.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('programs', import.meta.url));
const CACHE = join(ROOT, '.cache');
const PAGE = join(ROOT, 'docs', 'effort.md');
const INSTALL_MS = 900_000;
const RUN_MS = 120_000;
const MANY_TOOLS = 300;

const LANGCHAIN = { '@langchain/core': '1.2.13', '@langchain/openai': '1.6.0', langchain: '1.5.14' };
/** One folder for each set of packages that do not fit together. */
const FOLDERS = {
  effort: {
    '@ai-sdk/mcp': '2.0.93',
    '@ai-sdk/openai': '4.0.114',
    '@langchain/mcp-adapters': '1.1.4',
    '@modelcontextprotocol/sdk': '1.32.2',
    '@modelcontextprotocol/server': '2.4.0',
    ai: '7.0.169',
    fastmcp: '4.20.16',
    zod: '4.6.7',
    ...LANGCHAIN,
  },
  // The last version with an agent of its own that can be installed with its client.
  'effort-mcp-use': { 'mcp-use': '1.34.6', ...LANGCHAIN },
} as const;

const AGENTS = {
  plugboard: { title: 'Plugboard and AI SDK 7', folder: 'effort' },
  'ai-sdk-mcp': { title: '`@ai-sdk/mcp` 2 and AI SDK 7', folder: 'effort' },
  langchain: { title: '`@langchain/mcp-adapters` 1', folder: 'effort' },
  'mcp-use': { title: '`mcp-use` 1.34', folder: 'effort-mcp-use' },
} as const;
type Agent = keyof typeof AGENTS;

const SERVERS = { kit: '`plugboard/kit`', fastmcp: 'FastMCP 4', sdk: 'SDK 2' } as const;
type Server = keyof typeof SERVERS;
const ERAS: Readonly<Record<Server, 'legacy' | 'modern'>> = {
  kit: 'modern',
  fastmcp: 'legacy',
  sdk: 'modern',
};

/** Each situation: what the model calls, and how it is seen that the agent coped. */
interface Situation {
  readonly title: string;
  readonly plan: readonly PlannedCall[];
  readonly servers?: (probe: object, remote: object) => object;
  readonly env?: Readonly<Record<string, string>>;
  readonly holds: (ran: Ran) => boolean;
}

interface Ran {
  readonly requests: readonly ModelRequest[];
  /** What the model was sent after its last planned call. */
  readonly answers: string;
  readonly isDone: boolean;
  readonly saved: boolean;
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  call: {
    title: 'a call over stdio',
    plan: [{ tool: 'echo', args: { text: 'hi' } }],
    holds: ({ answers, isDone }) => isDone && answers.includes('echo hi'),
  },
  remote: {
    title: 'a call over HTTP with a token',
    plan: [{ tool: 'echo', args: { text: 'hi' } }],
    servers: (_probe, remote) => ({ remote }),
    holds: ({ answers, isDone }) => isDone && answers.includes('echo hi'),
  },
  broken: {
    title: 'another server does not start',
    plan: [{ tool: 'echo', args: { text: 'hi' } }],
    servers: (probe) => ({ broken: { command: 'no-such-program', args: [] }, probe }),
    holds: ({ answers, isDone }) => isDone && answers.includes('echo hi'),
  },
  form: {
    title: 'a form of the server is answered',
    plan: [{ tool: 'whoami' }],
    holds: ({ answers }) => answers.includes('accept Ada'),
  },
  denied: {
    title: 'a call that the user denies is not made',
    plan: [{ tool: 'save', args: { text: 'x' } }],
    holds: ({ saved, isDone }) => isDone && !saved,
  },
  image: {
    title: 'a picture reaches the model as a picture',
    plan: [{ tool: 'picture' }],
    holds: ({ answers }) => /"(?:input_image|image_url)"/.test(answers),
  },
  default: {
    title: 'an argument with a default is left out',
    plan: [{ tool: 'level' }],
    holds: ({ answers }) => answers.includes('level low'),
  },
  crash: {
    title: 'the server crashes, and the next call works',
    plan: [{ tool: 'crash' }, { tool: 'echo', args: { text: 'again' } }],
    holds: ({ answers, isDone }) => isDone && answers.includes('echo again'),
  },
};

/** What was seen; a test fails when it is no longer so, for better or worse. */
const FAILS: Readonly<Record<Agent, readonly string[]>> = {
  plugboard: [],
  'ai-sdk-mcp': ['crash'],
  langchain: ['form', 'crash'],
  'mcp-use': ['broken', 'denied', 'image', 'crash'],
};

let temp: string;
let remote: { readonly url: string; readonly close: () => void };
beforeAll(async () => {
  expect(await installNodes()).toBe(0);
  for (const [name, packages] of Object.entries(FOLDERS)) {
    expect(await installPinned(name, packages)).toBe(0);
    const folder = join(CACHE, name);
    cpSync(PROGRAMS, join(folder, 'programs'), { recursive: true });
    rmSync(join(folder, 'node_modules', 'plugboard'), { force: true, recursive: true });
    symlinkSync(ROOT, join(folder, 'node_modules', 'plugboard'));
  }
  temp = mkdtempSync(join(tmpdir(), 'plugboard-effort-'));
  remote = await startRemote();
}, INSTALL_MS);
afterAll(() => {
  remote.close();
  rmSync(temp, { recursive: true, force: true });
});

function nodeProgram(): string {
  const program = nodes.get(22);
  if (program === undefined) throw new Error('there is no Node 22');
  return program;
}

const probeFile = (): string => join(CACHE, 'effort', 'programs', 'probe-server.mjs');

function startRemote(): Promise<typeof remote> {
  const child = spawn(nodeProgram(), [probeFile(), '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve) => {
    child.stdout.once('data', (chunk: Buffer) =>
      resolve({ url: `http://127.0.0.1:${chunk.toString().trim()}/mcp`, close: () => child.kill() }),
    );
  });
}

async function runAgent(
  agent: Agent,
  { plan, servers, env = {} }: Pick<Situation, 'plan' | 'servers' | 'env'>,
): Promise<Ran> {
  const folder = mkdtempSync(join(temp, `${agent}-`));
  const saved = join(folder, 'saved');
  mkdirSync(join(folder, 'home'));
  const model = await scriptedModel(plan);
  const probe = {
    command: nodeProgram(),
    args: [probeFile()],
    env: { PROBE_SAVED: saved, PATH: process.env['PATH'] ?? '', ...env },
  };
  const entry = { url: remote.url, headers: { Authorization: 'Bearer probe-token' } };
  const given = servers?.(probe, entry) ?? { probe };
  const child = spawn(nodeProgram(), [join(CACHE, AGENTS[agent].folder, 'programs', `agent-${agent}.mjs`)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      SERVERS: JSON.stringify(given),
      TASK: 'Do it.',
      MODEL_URL: model.url,
      OPENAI_API_KEY: 'x',
      MCP_USE_ANONYMIZED_TELEMETRY: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child.stderr.resume();
  // One of them does not end after its last line: what it printed is enough.
  await new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.stdout.on('data', () => printed.includes('done') && resolve());
  });
  child.kill();
  await model.close();
  const last = model.requests.at(-1);
  return {
    requests: model.requests,
    answers: JSON.stringify(last?.input ?? last?.messages ?? []).replaceAll('\\"', '"'),
    isDone: /\bdone\b/.test(printed) && model.requests.length > plan.length,
    saved: existsSync(saved),
  };
}

/** Characters of tool definitions in the first request of a task, with many tools. */
async function definitionChars(agent: Agent): Promise<number> {
  const { requests } = await runAgent(agent, { plan: [], env: { PROBE_TOOLS: String(MANY_TOOLS) } });
  return JSON.stringify(requests[0]?.tools ?? []).length;
}

/** What a server answers to a client that uses all it offers, and the newest era that it speaks. */
async function useServer(
  name: Server,
): Promise<{ readonly seen: unknown; readonly era: string | undefined }> {
  const entry = {
    command: nodeProgram(),
    args: [join(CACHE, 'effort', 'programs', `server-${name}.mjs`)],
    approval: 'approve',
  } as const;
  const host = await createHost({
    cwd: temp,
    home: mkdtempSync(join(temp, 'home-')),
    servers: { weather: entry },
    elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  });
  try {
    await host.ready();
    const progress: (number | undefined)[] = [];
    const forecast = await host.call(
      'mcp__weather__forecast',
      { city: 'bern' },
      { onProgress: (step) => progress.push(step.progress) },
    );
    const { content } = await host.call('mcp__weather__subscribe');
    const { contents } = await host.read('weather', 'weather://bern');
    const { messages } = await host.prompt('weather', 'pack', { city: 'bern' });
    const ref = { type: 'ref/prompt', server: 'weather', name: 'pack' } as const;
    const { values } = await host.complete(ref, { name: 'city', value: 'ber' });
    const seen = { structured: forecast.structuredContent, progress, content, contents, messages, values };
    return { seen, era: host.servers()[0]?.era };
  } finally {
    await host.close();
  }
}

const linesOf = (program: string): number =>
  readFileSync(join(PROGRAMS, `${program}.mjs`), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

const agents = Object.keys(AGENTS) as Agent[];
const servers = Object.keys(SERVERS) as Server[];

describe('the same server', () => {
  it.each(servers)('%s answers a client that uses all that it offers', { timeout: RUN_MS }, async (name) => {
    expect(await useServer(name)).toMatchObject({
      era: ERAS[name],
      seen: {
        structured: { city: 'bern', degrees: [20, 20] },
        progress: [1, 2],
        content: [{ type: 'text', text: 'Good morning, Ada' }],
        contents: [{ uri: 'weather://bern', text: 'It rained in bern.' }],
        messages: [{ role: 'user', content: { type: 'text', text: 'What should I pack for bern?' } }],
        values: ['berlin', 'bern'],
      },
    });
  });
});

describe('the same agent', () => {
  it.each(agents)('%s in the situations that a real agent meets', { timeout: RUN_MS * 8 }, async (agent) => {
    const failed: string[] = [];
    for (const [name, situation] of Object.entries(SITUATIONS))
      if (!situation.holds(await runAgent(agent, situation))) failed.push(name);
    expect(failed).toEqual(FAILS[agent]);
  });

  it('docs/effort.md has the lines and results of this run', { timeout: RUN_MS * 4 }, async () => {
    const rows = [];
    for (const agent of agents)
      rows.push({
        title: AGENTS[agent].title,
        lines: linesOf(`agent-${agent}`),
        fails: FAILS[agent],
        definitionChars: await definitionChars(agent),
      });
    const serverRows = servers.map((name) => ({
      title: SERVERS[name],
      lines: linesOf(`server-${name}`),
      era: ERAS[name],
    }));
    const situations = Object.entries(SITUATIONS).map(([name, { title }]) => ({ name, title }));
    const page = effortPage({ agents: rows, servers: serverRows, situations, tools: MANY_TOOLS });
    await expect(page).toMatchFileSnapshot(PAGE);
  });
});
