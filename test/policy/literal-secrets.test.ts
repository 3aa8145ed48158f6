import { expect, it } from 'vitest';
import { literalSecrets, withReplaced } from '../../src/policy/literal-secrets.ts';

const TOKEN = 'sk-abcdef1234567890abcdef';

it.each<[string, Record<string, unknown>, readonly (string | number)[], string]>([
  [
    'a variable by its name',
    { command: 'x', env: { API_KEY: 'short', DEBUG: '1' } },
    ['env', 'API_KEY'],
    'short',
  ],
  ['a variable by its value', { command: 'x', env: { THING: TOKEN } }, ['env', 'THING'], TOKEN],
  [
    'the password of a url in a variable',
    { command: 'x', env: { DB: 'postgres://ada:hunter2@db.example.com/app' } },
    ['env', 'DB'],
    'ada:hunter2',
  ],
  [
    'the credential of a header',
    { url: 'https://a.example', headers: { Authorization: `Bearer ${TOKEN}` } },
    ['headers', 'Authorization'],
    TOKEN,
  ],
  ['an argument after its option', { command: 'x', args: ['--api-key', 'abc123'] }, ['args', 1], 'abc123'],
  ['an argument with its option', { command: 'x', args: ['-v', '--token=abc123'] }, ['args', 1], 'abc123'],
  ['a value of the url', { url: 'https://a.example/mcp?api_key=abc123' }, ['url'], 'abc123'],
  [
    'the default of a reference',
    { command: 'x', env: { API_KEY: `\${API_KEY:-${TOKEN}}` } },
    ['env', 'API_KEY'],
    `\${API_KEY:-${TOKEN}}`,
  ],
  ['a key that is not ours', { command: 'x', extra: { apiKey: 'abc' } }, ['extra', 'apiKey'], 'abc'],
])('B5: finds %s', (_what, raw, path, value) => {
  expect(literalSecrets(raw).map((each) => [each.path, each.value])).toEqual([[path, value]]);
});

it('B5: takes settings and references for what they are', () => {
  expect(
    literalSecrets({
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', '--token', '${TOKEN}'],
      env: { DEBUG: '1', LEVEL: 'debug', API_KEY: '${API_KEY}', REGION: '${REGION:-eu-west-1}' },
    }),
  ).toEqual([]);
  expect(
    literalSecrets({
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer ${input:t}' },
      headersFromEnv: { 'X-Key': 'DOCS_KEY' },
      bearerTokenEnvVar: 'DOCS_TOKEN',
    }),
  ).toEqual([]);
});

it('B5: puts a reference into the place of the secret, and changes nothing else', () => {
  const raw = {
    url: `https://example.com/mcp?key=${TOKEN}&a=1`,
    headers: { Authorization: `Bearer ${TOKEN}` },
  };
  const replaced = literalSecrets(raw).reduce<Readonly<Record<string, unknown>>>(
    (entry, secret) => withReplaced(entry, secret, '${input:docs}'),
    raw,
  );
  expect(replaced).toEqual({
    url: 'https://example.com/mcp?key=${input:docs}&a=1',
    headers: { Authorization: 'Bearer ${input:docs}' },
  });
});
