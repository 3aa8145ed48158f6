import { expect, it } from 'vitest';
import { recognise } from '../../../src/config/import/any-file.ts';
import { readDocumentOf } from '../../../src/config/import/find.ts';

const where = { env: {}, platform: 'linux', userHome: '/home/ada', projectRoot: '/home/ada/app' } as const;
const file = { path: 'pasted', format: 'json', scope: 'local' } as const;

it.each<[string, string, Record<string, unknown>, unknown]>([
  [
    'mcpServers',
    'file',
    { mcpServers: { a: { command: ['npx', 'x'], environment: { A: '1' }, disabled: true } } },
    { command: 'npx', disabled: true, args: ['x'], env: { A: '1' } },
  ],
  [
    'mcpServers of Windsurf',
    'windsurf',
    { mcpServers: { a: { serverUrl: 'https://a.example/mcp' } } },
    { url: 'https://a.example/mcp' },
  ],
  [
    'mcpServers of Gemini',
    'gemini',
    { mcpServers: { a: { httpUrl: 'https://a.example/mcp' } }, mcp: { excluded: ['a'] } },
    { type: 'http', url: 'https://a.example/mcp', enabled: false },
  ],
  [
    'mcpServers of an editor',
    'cursor',
    { mcpServers: { a: { command: 'x', env: { A: '${env:A}' } } } },
    { command: 'x', env: { A: '${A}' } },
  ],
  ['servers', 'vscode', { servers: { a: { type: 'stdio', command: 'x' } } }, { type: 'stdio', command: 'x' }],
  [
    'servers among the settings of VS Code',
    'vscode',
    { mcp: { servers: { a: { command: 'x' } } } },
    { command: 'x' },
  ],
  [
    'mcp of OpenCode, with its general limit',
    'opencode',
    { mcp: { a: { type: 'local', command: ['x', 'y'] } }, experimental: { mcp_timeout: 9000 } },
    { command: 'x', args: ['y'], toolTimeoutMs: 9000 },
  ],
  [
    'mcp.servers of OpenCode',
    'opencode',
    { mcp: { servers: { a: { type: 'remote', url: 'https://a.example' } } } },
    { url: 'https://a.example' },
  ],
  [
    'context_servers',
    'zed',
    { context_servers: { a: { source: 'custom', command: 'x', args: [] } } },
    { command: 'x', args: [] },
  ],
  ['tables of Codex', 'codex', { mcp_servers: { a: { command: 'x' } } }, { command: 'x' }],
])('F10: recognises %s', (_what, id, value, entry) => {
  const found = recognise(value, file);
  expect(found?.agent.id).toBe(id);
  if (found === undefined) return;
  const { servers } = readDocumentOf(found.agent, file, { file: '', text: '', value, problems: [] }, where);
  expect(servers.map((server) => [server.name, server.entry])).toEqual([['a', entry]]);
});

it('F10: a file without servers is not recognised', () => {
  expect(recognise({ editor: { tabSize: 2 } }, file)).toBeUndefined();
  expect(recognise([], file)).toBeUndefined();
});
