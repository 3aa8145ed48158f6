/** Configuration files of every format: broken ones are a problem and never damaged, sound ones lose nothing to an edit. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { describeEntry } from '../../../src/config/describe.ts';
import { parseDocument } from '../../../src/config/document.ts';
import { editTarget, removeServer, setServer } from '../../../src/config/edit-config.ts';
import { expandEntry } from '../../../src/config/expand.ts';
import { homeAt } from '../../../src/config/home.ts';
import { AGENTS } from '../../../src/config/import/agents.ts';
import { findForeign } from '../../../src/config/import/find.ts';
import type { Agent, ForeignFile, Where } from '../../../src/config/import/foreign-agent.ts';
import { setEntry, writeProgram } from '../../../src/config/import/write-program.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { canonicalJson } from '../../../src/lib/canonical-json.ts';
import { isRecord } from '../../../src/lib/json.ts';
import { type Edge, orRefused } from '../edge.ts';

const ENTRY = {
  command: 'npx',
  args: ['-y', '@scope/files', '${HOME}'],
  env: { TOKEN: '${TOKEN:-none}', PLAIN: 'x' },
  cwd: '.',
  enabledTools: ['read_*'],
  toolTimeoutMs: 1000,
  tools: { read: { approval: 'approve' } },
};
const REMOTE = {
  type: 'http',
  url: 'https://example.com/mcp',
  headers: { Authorization: 'Bearer ${T}' },
  oauth: { scopes: ['a'] },
};

const TOML = `# mine
model = "o"
[mcp_servers.files] # keep
command = "npx"
args = ["-y", "files"]
startup_timeout_sec = 10.5
[mcp_servers.files.env]
A = 'b'
[mcp_servers."docs.x"]
url = "https://example.com/mcp"
[projects."/p"]
trust_level = "trusted"
`;

const JSONC = `// of the team
{
  "mcpServers": { /* here */
    "files": ${JSON.stringify(ENTRY)}, // from npm
    "docs": ${JSON.stringify(REMOTE)},
  },
  "x": 1e2
}
`;

const BY_NAME = JSON.stringify({ mcpServers: { files: ENTRY, docs: REMOTE } });

/** What each format looks like; the first line of an input says which one it is. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  project: [JSONC, BY_NAME],
  config: [
    JSON.stringify({
      mcpServers: { files: ENTRY },
      projects: { PROJECT: { mcpServers: { mine: ENTRY } } },
      permissions: { allow: ['mcp__files__*'], deny: ['mcp__*__delete'] },
      defaults: { approval: 'auto', toolTimeoutMs: 5 },
      inputs: [{ id: 'key', description: 'Key', password: true }],
      plugins: { p: { path: 'plugin', enabled: true } },
      toolSearch: 'auto:10',
    }),
    JSONC,
  ],
  plugin: [
    JSON.stringify({ name: 'p', version: '1', description: 'd', mcpServers: { files: ENTRY } }),
    '{"mcpServers":"./.mcp.json"}',
  ],
  'claude-code': [BY_NAME, JSON.stringify({ projects: { PROJECT: { mcpServers: { files: ENTRY } } } })],
  'claude-desktop': [BY_NAME],
  codex: [TOML],
  opencode: [
    JSON.stringify({
      mcp: {
        files: { type: 'local', command: ['npx', 'x'], environment: { A: 'b' }, enabled: true },
        docs: { type: 'remote', url: 'https://x/', headers: {} },
      },
    }),
  ],
  cursor: [BY_NAME],
  vscode: [
    JSON.stringify({
      servers: { files: ENTRY },
      inputs: [{ id: 'k', type: 'promptString', password: true }],
    }),
  ],
  gemini: [
    JSON.stringify({
      mcpServers: {
        files: { ...ENTRY, trust: true, includeTools: ['a'], timeout: 5, httpUrl: 'https://x/' },
      },
    }),
  ],
  windsurf: [
    JSON.stringify({ mcpServers: { files: { serverUrl: 'https://x/', disabled: true, headers: {} } } }),
  ],
  zed: [
    JSON.stringify({
      context_servers: {
        files: { source: 'custom', command: { path: 'npx', args: ['x'], env: {} }, settings: {} },
      },
    }),
  ],
  pi: [BY_NAME],
};

export const config: Edge = {
  name: 'config',
  runs: 60,
  open() {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-fuzz-config-')));
    const root = join(base, 'project');
    const home = homeAt(join(base, 'home'));
    const where: Where = { env: {}, platform: 'linux', userHome: join(base, 'user'), projectRoot: root };
    const ours: Readonly<Record<string, string>> = {
      project: join(root, '.mcp.json'),
      config: home.config,
      plugin: join(home.dir, 'plugin', 'plugin.json'),
    };
    const reset = (): void => {
      rmSync(base, { recursive: true, force: true });
      mkdirSync(join(root, '.git'), { recursive: true });
    };
    return {
      corpus: Object.entries(FILES).flatMap(([kind, texts]) =>
        texts.map((text) => Buffer.from(`${kind}\n${text}`)),
      ),
      async check(input) {
        reset();
        const end = input.indexOf('\n');
        const kind = input.toString('utf8', 0, Math.max(end, 0));
        const bytes = Buffer.from(
          input
            .subarray(end + 1)
            .toString('latin1')
            .replaceAll('PROJECT', root),
          'latin1',
        );
        const own = ours[kind];
        const agent = AGENTS.find(({ id }) => id === kind) ?? AGENTS[bytes.length % AGENTS.length];
        if (own !== undefined) {
          if (kind === 'plugin') write(home.config, '{"plugins":{"p":{"path":"plugin"}}}');
          write(own, bytes);
          const loaded = await loadConfig({ cwd: root, home });
          JSON.stringify(loaded.problems);
          for (const spec of loaded.servers) {
            JSON.stringify(describeEntry(spec));
            await orRefused(() => expandEntry(spec, { HOME: '/h' }));
          }
          if (kind !== 'plugin')
            await editOurs(kind === 'project' ? 'project' : 'user', { home, projectRoot: root });
        } else if (agent !== undefined) await editForeign(agent, where, bytes);
      },
      close: () => rmSync(base, { recursive: true, force: true }),
    };
  },
};

/** A new server, and out again: what was there is there, or nothing was touched at all. */
async function editOurs(scope: 'project' | 'user', where: Parameters<typeof editTarget>[1]): Promise<void> {
  const target = editTarget(scope, where);
  const before = readFileSync(target.file);
  const options = { home: where.home };
  const name = 'added by a test';
  const done = await orRefused(() => setServer(target, name, { command: 'x' }, options).then(() => true));
  const after = readFileSync(target.file);
  if (done === undefined) {
    if (!after.equals(before)) throw new Error('a file that could not be edited was changed');
    return;
  }
  const [was, is] = [await documentIn(before), await documentIn(after)];
  mustBeSame(without(is, ['mcpServers', name]), was);
  await removeServer(target, name, options);
  mustBeSame(without(await documentIn(readFileSync(target.file)), []), was);
}

async function editForeign(agent: Agent, where: Where, bytes: Buffer): Promise<void> {
  const [file] = agent.files(where);
  if (file === undefined) return;
  write(file.path, bytes);
  const found = await findForeign([agent], where);
  JSON.stringify(found.problems);
  for (const { entry } of found.servers) JSON.stringify(entry);
  const text = bytes.toString('utf8');
  const name = 'added by a test';
  const program = { command: 'x', args: ['a'], env: { A: 'b' } };
  const written = await orRefused(() => writeProgram(agent, file, text, { name, program }));
  if (written === undefined) return;
  const was = await foreignValue(file, text);
  const is = await foreignValue(file, written.text);
  mustBeSame(without(is, written.path), was);
  const removed = await orRefused(() => setEntry(file, written.text, written.path, undefined));
  if (removed !== undefined) mustBeSame(without(await foreignValue(file, removed), []), was);
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

async function documentIn(bytes: Buffer): Promise<unknown> {
  return (await parseDocument('f', bytes.toString('utf8'))).value;
}

async function foreignValue({ format }: ForeignFile, text: string): Promise<unknown> {
  return format === 'json' ? (await parseDocument('f', text)).value : parseToml(text.replace(/^\uFEFF/, ''));
}

/** What a document says, without one entry; objects that hold nothing count as absent, for an edit may make them. */
function without(value: unknown, path: readonly string[]): unknown {
  if (!isRecord(value)) return value;
  const [key, ...rest] = path;
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (name !== key) return [[name, member] as const];
    return rest.length === 0 ? [] : [[name, without(member, rest)] as const];
  });
  return Object.fromEntries(entries);
}

function mustBeSame(is: unknown, was: unknown): void {
  const [after, before] = [canonicalJson(pruned(is)), canonicalJson(pruned(was))];
  if (after !== before) throw new Error(`an edit made ${after.slice(0, 500)}\nof ${before.slice(0, 500)}`);
}

function pruned(value: unknown): unknown {
  if (!isRecord(value)) return value ?? {};
  const kept = Object.entries(value).map(([key, member]) => [key, pruned(member)] as const);
  return Object.fromEntries(kept.filter(([, member]) => !isRecord(member) || Object.keys(member).length > 0));
}
