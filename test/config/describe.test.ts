import { describe, expect, it } from 'vitest';
import { describeEntry, transportOf } from '../../src/config/describe.ts';
import { parseEntry } from '../../src/config/parse.ts';

function shown(
  raw: Record<string, unknown>,
  file: string | null = '/home/config.json',
): Record<string, unknown> {
  const { entry } = parseEntry('s', raw, 'user');
  if (!entry) throw new Error('a valid entry was expected');
  return describeEntry({ entry, raw, ...(file === null ? {} : { file }) });
}

const SET = '(set in config.json)';

describe('describeEntry: POL-7, secrets are never shown', () => {
  it('hides the values of env and headers, but not switches and levels, and keeps references visible', () => {
    expect(
      shown({
        url: 'https://example.com/mcp',
        headers: {
          A: 'plain',
          B: '${KEY}',
          C: 'Bearer ${TOKEN}',
          D: 'user:pass${X}',
          E: '${KEY:-default-secret}',
          F: 'a $${B}',
        },
        headersFromEnv: { G: 'VARIABLE' },
        bearerTokenEnvVar: 'TOKEN',
      }),
    ).toEqual({
      url: 'https://example.com/mcp',
      headers: { A: SET, B: '${KEY}', C: 'Bearer ${TOKEN}', D: '…${X}', E: '${KEY:-…}', F: SET },
      headersFromEnv: { G: 'VARIABLE' },
      bearerTokenEnvVar: 'TOKEN',
    });
    expect(shown({ command: 'x', env: { LEVEL: 'debug', __proto__: 'x' } })).toEqual({
      command: 'x',
      env: { LEVEL: 'debug' },
    });
  });

  it('F30: shows a path in env, unless its name or a part of it is that of a secret', () => {
    const hash = 'a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4';
    const env = { MEMORY_FILE_PATH: '/home/ada/memory.json', DIR: './data', HOME_DIR: '~/notes' };
    expect(shown({ command: 'x', env: { ...env, TOKEN: '/home/ada/x', HOOK: `/T0/${hash}` } })).toEqual({
      command: 'x',
      env: { ...env, TOKEN: SET, HOOK: SET },
    });
  });

  it('reports where the value is', () => {
    expect(shown({ command: 'x', env: { A: 'b' } }, null)).toEqual({
      command: 'x',
      env: { A: '(set in code)' },
    });
    expect(shown({ command: 'x', env: { A: 'b' } }, '/p/.mcp.json')).toEqual({
      command: 'x',
      env: { A: '(set in .mcp.json)' },
    });
  });

  it.each([
    [
      ['--api-key=abc', '--port=80'],
      [`--api-key=${SET}`, '--port=80'],
    ],
    [
      ['--token', 'abc', '--verbose'],
      ['--token', SET, '--verbose'],
    ],
    [
      ['--token', '${TOKEN}'],
      ['--token', '${TOKEN}'],
    ],
    [
      ['-e', 'GITHUB_TOKEN=abc', '-e', 'LEVEL=info'],
      ['-e', `GITHUB_TOKEN=${SET}`, '-e', 'LEVEL=info'],
    ],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', `Authorization: ${SET}`],
    ],
    [
      ['postgres://me:pw@db/x?sslmode=off&password=q'],
      [`postgres://${SET}@db/x?sslmode=off&password=${SET}`],
    ],
    [['ghp_0123456789abcdef'], [SET]],
    [
      ['-c', 'run --password hunter2 && echo ok'],
      ['-c', `run --password ${SET} && echo ok`],
    ],
    [
      ['-y', '@modelcontextprotocol/server-filesystem@2025.1.1', '.'],
      ['-y', '@modelcontextprotocol/server-filesystem@2025.1.1', '.'],
    ],
    [
      ['--token-file', '/run/secrets/t', '--author', 'me'],
      ['--token-file', '/run/secrets/t', '--author', 'me'],
    ],
    [['mcp-server-with-a-rather-long-name-2'], ['mcp-server-with-a-rather-long-name-2']],
  ])('arguments %j', (args, expected) => {
    expect(shown({ command: 'x', args })).toEqual({ command: 'x', args: expected });
  });

  it.each([
    ['https://user:pass@example.com/mcp', `https://${SET}@example.com/mcp`],
    ['https://example.com/mcp?api_key=abc&page=2', `https://example.com/mcp?api_key=${SET}&page=2`],
    ['https://example.com/mcp?key=${KEY}', 'https://example.com/mcp?key=${KEY}'],
    ['https://example.com/s/ZmFrZXRva2VuMTIzNDU2Nzg5MA/mcp', `https://example.com/s/${SET}/mcp`],
    ['https://${HOST:-example.com}:8080/mcp', 'https://${HOST:-example.com}:8080/mcp'],
  ])('the url %s', (url, expected) => {
    expect(shown({ url })).toEqual({ url: expected });
  });

  it('hides the client secret, and shows the rest of the login', () => {
    expect(
      shown({
        url: 'http://a/',
        oauth: { clientId: 'id', clientSecret: 'abc', scopes: ['repo'], tokenUrl: 'https://a/token' },
      }),
    ).toEqual({
      url: 'http://a/',
      oauth: { clientId: 'id', clientSecret: SET, scopes: ['repo'], tokenUrl: 'https://a/token' },
    });
    expect(shown({ url: 'http://a/', oauth: { grant: { kind: 'jwt', privateKey: 'abc' } } })).toEqual({
      url: 'http://a/',
      oauth: { grant: { kind: 'jwt', privateKey: SET } },
    });
  });

  it('shows unknown keys, and hides what looks secret in them', () => {
    expect(
      shown({ command: 'x', 'x-team': 'core', apiKey: 'abc', nested: { password: 'p', level: 3 } }),
    ).toEqual({
      command: 'x',
      'x-team': 'core',
      apiKey: SET,
      nested: { password: SET, level: 3 },
    });
  });

  it('A18: looks for secrets in arguments of any length and shape within a moment', () => {
    const long = ['https://h/?'.padEnd(500_000, 'x'), 'a='.repeat(200_000), `--token=${'a='.repeat(50_000)}`];
    expect(shown({ command: 'x', args: long })).toEqual({
      command: 'x',
      args: [long[0], long[1], `--token=${SET}`],
    });
  });

  it('leaves out what has no effect in a project file', () => {
    const raw = { command: 'x', trusted: true };
    const { entry } = parseEntry('s', raw, 'project');
    expect(entry && describeEntry({ entry, raw, file: '/p/.mcp.json' })).toEqual({ command: 'x' });
  });
});

it('transportOf', () => {
  expect([
    transportOf({ command: 'x' }),
    transportOf({ url: 'http://a/' }),
    transportOf({ type: 'sse', url: 'http://a/' }),
  ]).toEqual(['stdio', 'http', 'sse']);
});
