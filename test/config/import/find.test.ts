import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AGENTS, agentCalled } from '../../../src/config/import/agents.ts';
import { type Found, findForeign } from '../../../src/config/import/find.ts';
import type { AgentId, Where } from '../../../src/config/import/foreign-agent.ts';
import { writeAgents } from './agents.ts';

interface Machine extends Where {
  readonly dir: string;
}

function machine(env: Record<string, string> = {}): Machine {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-import-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const places = { userHome: join(dir, 'home'), projectRoot: join(dir, 'project') };
  for (const folder of Object.values(places)) mkdirSync(folder);
  return { dir, env, platform: 'linux', ...places };
}

async function foundOf(id: AgentId): Promise<Found> {
  const where = machine();
  writeAgents({ home: where.userHome, project: where.projectRoot }, [id]);
  return findForeign([agentCalled(id)], where);
}

/** By name: scope and entry, and what was lost or why it was refused where there is something to say. */
function summary({ servers }: Found): Record<string, unknown> {
  return Object.fromEntries(
    servers.map(({ name, scope, entry, lost, refused }) => [
      name,
      [scope, refused ?? entry, ...lost.map(({ key }) => `without ${key}`)],
    ]),
  );
}

const NO_WORDS = (key: string, reference: string): string =>
  `Its "${key}" uses ${reference}, which Plugboard does not support.`;

const EXPECTED: Readonly<Record<AgentId, Readonly<Record<string, unknown>>>> = {
  'claude-code': {
    'cc-local': ['local', { type: 'sse', url: 'https://example.com/sse' }],
    'cc-stdio': [
      'user',
      { type: 'stdio', command: 'npx', args: ['-y', 'srv'], env: { KEY: `\${KEY:-none}` } },
    ],
    'cc-http': [
      'user',
      {
        type: 'http',
        url: 'https://example.com/mcp',
        headers: { Authorization: `Bearer \${API_KEY}` },
        oauth: { clientId: 'abc', callbackPort: 8080 },
      },
      'without oauth.authServerMetadataUrl',
    ],
    'cc-project': ['project', { command: 'node', args: ['server.js'] }],
  },
  'claude-desktop': {
    'cd-files': [
      'user',
      {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/Desktop', '$' + `\${HOME}`],
      },
    ],
  },
  codex: {
    'codex-stdio': [
      'user',
      {
        command: 'npx',
        args: ['-y', 'mcp-server'],
        envVars: ['TOKEN', 'OTHER'],
        cwd: '/tmp',
        startupTimeoutMs: 20500,
        toolTimeoutMs: 45000,
        enabledTools: ['open'],
        disabledTools: ['screenshot'],
        approval: 'prompt',
        env: { MY_ENV: 'it costs $' + `\${five}` },
        tools: { search: { approval: 'approve' } },
      },
    ],
    'codex-http': [
      'user',
      {
        url: 'https://mcp.figma.com/mcp',
        bearerTokenEnvVar: 'FIGMA_TOKEN',
        headers: { 'X-Region': 'us-east-1' },
        headersFromEnv: { 'X-Org': 'ORG' },
        oauth: { scopes: ['read'] },
        enabled: false,
      },
      'without oauth_resource',
    ],
    'codex-project': ['project', { command: 'make', args: ['mcp'] }],
  },
  opencode: {
    'oc-two': ['project', { command: 'bun', args: ['x', 'two'], cwd: '.', enabled: false }],
    'oc-local': [
      'user',
      {
        command: 'npx',
        args: ['-y', 'my-mcp'],
        env: { KEY: `\${MY_KEY}` },
        enabled: true,
        startupTimeoutMs: 10000,
        toolTimeoutMs: 10000,
      },
      'without environment.CERT',
    ],
    'oc-remote': [
      'user',
      {
        url: 'https://example.com/mcp',
        headers: { Authorization: `Bearer \${MY_KEY}` },
        oauth: { clientId: `\${ID}`, clientSecret: `\${SECRET}`, scopes: ['tools:read', 'tools:execute'] },
      },
    ],
    'oc-switch': ['user', 'It only switches a server on or off that is configured elsewhere.'],
  },
  cursor: {
    'cursor-project': ['project', { command: 'npx', args: ['x'] }],
    'cursor-stdio': [
      'user',
      {
        type: 'stdio',
        command: 'python',
        args: [`\${PROJECT_DIR}/tools/mcp_server.py`, '--home', `\${HOME}`],
        env: { API_KEY: `\${API_KEY}` },
      },
      'without envFile',
    ],
    'cursor-http': [
      'user',
      {
        url: 'https://api.example.com/mcp',
        headers: { Authorization: `Bearer \${MY_SERVICE_TOKEN}` },
        oauth: { clientId: `\${ID}`, scopes: ['read'] },
      },
    ],
  },
  vscode: {
    'code-project': [
      'project',
      { command: 'node', args: [`\${PROJECT_DIR}/server.js`], cwd: `\${PROJECT_DIR}/tools` },
    ],
    'code-command': ['project', NO_WORDS('command', `\${command:extension.path}`)],
    'code-input': [
      'user',
      {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'server-perplexity-ask', `--region=\${input:region}`],
        env: { PERPLEXITY_API_KEY: `\${input:perplexity-key}` },
      },
      'without dev',
    ],
    'code-http': ['user', { type: 'http', url: 'https://api.githubcopilot.com/mcp' }],
  },
  gemini: {
    'gem-stdio': [
      'user',
      {
        command: 'path/to/server',
        args: ['--arg1', 'value1'],
        env: { API_KEY: `\${MY_API_TOKEN}` },
        cwd: './server-directory',
        toolTimeoutMs: 30000,
        approval: 'approve',
        enabledTools: ['safe_tool'],
        disabledTools: ['dangerous_tool'],
      },
    ],
    'gem-http': ['user', { type: 'http', url: 'http://localhost:3000/mcp', toolTimeoutMs: 5000 }],
    'gem-sse': [
      'user',
      {
        type: 'sse',
        url: 'https://example.com/sse',
        headers: { Authorization: `Bearer \${TOKEN}` },
        oauth: { clientId: 'id', scopes: ['a'] },
      },
      'without oauth.redirectUri',
      'without authProviderType',
    ],
  },
  windsurf: {
    'surf-remote': [
      'user',
      {
        url: 'https://example.com/mcp',
        headers: { API_KEY: `Bearer \${AUTH_TOKEN}` },
        disabledTools: ['write'],
        tools: { read: { approval: 'approve' } },
      },
    ],
    'surf-stdio': ['user', { command: 'npx', args: ['-y', 'x'], enabled: false }],
  },
  zed: {
    'zed-custom': ['user', { command: 'some-command', args: ['arg-1'] }],
    'zed-old': ['user', { command: '/bin/server', args: ['run'], env: { A: '1' } }],
    'zed-remote': ['user', { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer abcdefgh' } }],
    'zed-extension': ['user', 'It is an extension of Zed, which starts it by itself.', 'without settings'],
  },
  pi: {
    'pi-stdio': [
      'user',
      {
        command: 'npx',
        args: ['-y', 'chrome-devtools-mcp'],
        env: { KEY: `\${KEY}`, LOUD: '!important' },
        lifecycle: 'keep-alive',
        toolTimeoutMs: 30000,
        alwaysLoad: true,
      },
      'without env.SECRET',
    ],
    'pi-http': ['user', { url: 'https://example.com/mcp', bearerTokenEnvVar: 'PI_TOKEN' }],
  },
};

it.each(AGENTS.flatMap(({ id }) => (id === 'file' ? [] : [id])))(
  'CFG-6: the servers of %s come over in our words',
  async (id) => {
    const found = await foundOf(id);
    expect(summary(found)).toEqual(EXPECTED[id]);
    expect(found.problems).toEqual([]);
  },
);

it('CFG-6: the questions of VS Code come with its servers, hidden only where it hides them', async () => {
  const { inputs } = await foundOf('vscode');
  expect(inputs.map(({ scope, value }) => ({ scope, value }))).toEqual([
    {
      scope: 'user',
      value: {
        type: 'promptString',
        id: 'perplexity-key',
        description: 'Perplexity API key',
        password: true,
      },
    },
    {
      scope: 'user',
      value: {
        type: 'pickString',
        id: 'region',
        description: 'Region',
        options: ['eu', 'us'],
        password: false,
      },
    },
    { scope: 'user', value: { type: 'command', id: 'run', command: 'extension.run', password: false } },
  ]);
});

it('CFG-6: a broken file is a problem with its place and no word of its text; the others count', async () => {
  const where = machine();
  writeAgents({ home: where.userHome, project: where.projectRoot }, ['cursor', 'codex']);
  const toml = join(where.userHome, '.codex', 'config.toml');
  const json = join(where.projectRoot, '.cursor', 'mcp.json');
  writeFileSync(toml, 'a = 1\n[mcp_servers.x]\ncommand = s3cret-value"\n');
  writeFileSync(json, '{\n  "mcpServers": {\n    "x": s3cret\n  }\n}\n');
  const found = await findForeign(AGENTS, where);
  expect(found.problems).toEqual([
    {
      file: toml,
      line: 3,
      column: 11,
      message: 'The file is not valid TOML: invalid value',
      hint: 'This file is ignored until it is fixed.',
    },
    {
      file: json,
      line: 3,
      column: 10,
      message: 'The file is not valid JSON: this is not JSON',
      hint: 'This file is ignored until it is fixed.',
    },
  ]);
  expect(found.servers.map(({ name }) => name)).toEqual(['codex-project', 'cursor-stdio', 'cursor-http']);
});

it('CFG-6: values that are not entries, or make no sense as one, are refused by name and affect no other', async () => {
  const where = machine();
  const file = join(where.userHome, '.cursor', 'mcp.json');
  mkdirSync(join(file, '..'));
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: { a: 'text', b: null, __proto__x: 1, c: { command: ['list'] }, d: { command: 'x' } },
    }),
  );
  expect(summary(await findForeign([agentCalled('cursor')], where))).toEqual({
    a: ['user', 'It is not an object.'],
    b: ['user', 'It is not an object.'],
    __proto__x: ['user', 'It is not an object.'],
    c: ['user', { command: ['list'] }],
    d: ['user', { command: 'x' }],
  });
});

it('CFG-6: finds the folders of macOS and Windows, and the variables that move them', () => {
  const where = { env: {}, userHome: '/u', projectRoot: '/p' };
  const paths = (id: AgentId, place: Partial<Where>): string[] =>
    agentCalled(id)
      .files({ ...where, platform: 'linux', ...place })
      .filter(({ scope }) => scope === 'user')
      .map(({ path }) => path);
  const support = '/u/Library/Application Support';
  expect(paths('claude-desktop', { platform: 'darwin' })).toEqual([
    `${support}/Claude/claude_desktop_config.json`,
  ]);
  expect(paths('vscode', { platform: 'darwin' })[0]).toBe(`${support}/Code/User/mcp.json`);
  expect(paths('vscode', { platform: 'win32', env: { APPDATA: '/a' } })[0]).toBe('/a/Code/User/mcp.json');
  expect(paths('zed', { platform: 'darwin' })).toEqual(['/u/.config/zed/settings.json']);
  expect(paths('claude-code', { env: { CLAUDE_CONFIG_DIR: '/c' } })).toEqual(['/c/.claude.json']);
  expect(paths('codex', { env: { CODEX_HOME: '/c' } })).toEqual(['/c/config.toml']);
  expect(paths('opencode', { env: { XDG_CONFIG_HOME: '/x', OPENCODE_CONFIG: '/o.json' } })).toEqual([
    '/o.json',
    '/x/opencode/opencode.json',
    '/x/opencode/opencode.jsonc',
    '/x/opencode/config.json',
  ]);
  expect(paths('pi', { env: { PI_CODING_AGENT_DIR: '/pi' } })[0]).toBe('/pi/mcp.json');
});

it('CFG-6: an unknown agent is answered with the nearest', () => {
  expect(() => agentCalled('coder')).toThrow(
    expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('Did you mean "codex"?') }),
  );
  expect(agentCalled('Claude').id).toBe('claude-code');
});

/** Writes files below the machine's folder and reads the servers of one agent. */
async function switched(
  id: AgentId,
  files: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const where = machine();
  for (const [path, value] of Object.entries(files)) {
    const file = join(where.dir, path);
    mkdirSync(join(file, '..'), { recursive: true });
    const text = JSON.stringify(value).replaceAll('<project>', where.projectRoot);
    writeFileSync(file, text);
  }
  const { servers } = await findForeign([agentCalled(id)], where);
  return Object.fromEntries(
    servers.map(({ name, entry, refused }) => [name, refused ?? entry['enabled'] ?? true]),
  );
}

it('B10: servers that Gemini CLI has excluded, not allowed or disabled stay off', async () => {
  const entry = { command: 'x' };
  expect(
    await switched('gemini', {
      'home/.gemini/settings.json': {
        mcpServers: { a: entry, b: entry, c: entry, D: entry },
        mcp: { excluded: ['a'] },
      },
      'project/.gemini/settings.json': { mcpServers: { p: entry }, mcp: { allowed: ['b', 'p', 'D'] } },
      'home/.gemini/mcp-server-enablement.json': { d: { enabled: false } },
    }),
  ).toEqual({ a: false, b: true, c: false, D: false, p: true });
});

it('B10: servers that Claude Code has switched off in this project stay off', async () => {
  const entry = { command: 'x' };
  expect(
    await switched('claude-code', {
      'home/.claude.json': {
        mcpServers: { u: entry, v: entry },
        projects: {
          '<project>': {
            mcpServers: { l: entry },
            disabledMcpServers: ['u', 'l'],
            disabledMcpjsonServers: ['p'],
          },
        },
      },
      'project/.mcp.json': { mcpServers: { p: entry, q: entry, r: entry } },
      'project/.claude/settings.local.json': { enabledMcpjsonServers: ['q'] },
    }),
  ).toEqual({ u: false, v: true, l: false, p: false, q: true, r: false });
});

it('B10: a file that only switches a server off does so for the one that is configured elsewhere', async () => {
  expect(
    await switched('opencode', {
      'home/.config/opencode/opencode.json': { mcp: { a: { type: 'local', command: ['x'] } } },
      'project/opencode.json': { mcp: { a: { enabled: false } } },
    }),
  ).toEqual({ a: false });
});

it('B25: entries of OpenCode that cannot be used are refused for what is wrong with them', async () => {
  expect(
    await switched('opencode', {
      'home/.config/opencode/opencode.json': {
        mcp: {
          a: { type: 'alien' },
          b: { type: 'local', command: 'x' },
          c: { type: 'local' },
          d: { enabled: true },
        },
      },
    }),
  ).toEqual({
    a: 'Its "type" is neither "local" nor "remote".',
    b: 'Its "command" is not a list of words.',
    c: 'It has no "command".',
    d: 'It only switches a server on or off that is configured elsewhere.',
  });
});
