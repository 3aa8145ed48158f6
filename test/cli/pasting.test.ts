import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const localServers = (): unknown => {
  const { projects } = place.read(place.userFile) as {
    projects: Record<string, { mcpServers: Record<string, unknown> }>;
  };
  return projects[place.project]?.mcpServers;
};

it('F10: add-json takes the snippet of a README from stdin, with comments, and adds all of its servers', async () => {
  const input =
    '```json\n{ // for your agent\n  "mcpServers": {\n    "a": { "command": "x", "args": ["y",], },\n    "b": { "type": "http", "url": "https://example.com/mcp" },\n  },\n}\n```\n';
  expect(await place.json(['add-json', '-'], { input })).toMatchObject({
    status: 0,
    value: { servers: [{ name: 'a', entry: { command: 'x' } }, { name: 'b' }] },
  });
  const part = '"mcp": { "c": { "type": "local", "command": ["x"], "environment": { "A": "{env:A}" } } },';
  expect((await place.run(['add-json', 'mine', part])).status).toBe(0);
  expect(localServers()).toEqual({
    a: { command: 'x', args: ['y'] },
    b: { type: 'http', url: 'https://example.com/mcp' },
    mine: { command: 'x', env: { A: '${A}' } },
  });
});

it('F10: add-json refuses before anything is written, for the reason that is wrong', async () => {
  const several = '{"mcpServers":{"a":{"command":"x"},"b":{"command":"x","env":{"A":1}}}}';
  expect(await place.json(['add-json', several])).toMatchObject({
    status: 2,
    value: {
      error: { code: 'CONFIG_INVALID', server: 'b', message: expect.stringContaining('"env.A" must be') },
    },
  });
  expect(await place.json(['add-json', '{"command":"x"}'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE', message: 'The entry has no name' } },
  });
  expect(await place.json(['add-json', 's', '{"command":"x","sandbox":"foo"}'])).toMatchObject({
    status: 2,
    value: { error: { code: 'CONFIG_INVALID', message: expect.stringContaining('sandbox') } },
  });
  expect(place.read(place.userFile)).toBeUndefined();
});

it('F10: import takes a file in the format of any agent', async () => {
  const file = join(place.project, 'servers.json');
  place.write(file, '{ "context_servers": { "z": { "command": "x", "enabled": false } } } // from Zed');
  expect(await place.json(['import', './servers.json', '--yes'])).toMatchObject({
    status: 0,
    value: {
      servers: [{ source: 'zed', name: 'z', scope: 'local', action: 'add', notes: ['Disabled, as in Zed.'] }],
    },
  });
  expect(localServers()).toEqual({ z: { command: 'x', enabled: false } });
  // A transport that is written out is the same as the default.
  place.write(file, { mcpServers: { z: { type: 'stdio', command: 'x', disabled: true } } });
  expect((await place.json(['import', './servers.json', '--dry-run'])).value).toMatchObject({
    servers: [{ source: 'file', name: 'z', action: 'same' }],
  });
  expect(await place.json(['import', './none.json'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE', message: 'There is no file <project>/none.json' } },
  });
});

it('F11: a command line in one word is split, and an address without its scheme is explained', async () => {
  const { status, stderr } = await place.run(['add', 'x', 'npx -y "a b"']);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: 'note: Split into the command npx and 2 arguments.\n',
  });
  expect(localServers()).toEqual({ x: { command: 'npx', args: ['-y', 'a b'] } });
  expect(await place.json(['add', 'y', 'example.com'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE', hint: 'Did you mean plugboard add y https://example.com?' } },
  });
});

it('B29: add needs a name of its own, and flags that fit each other', async () => {
  const refusals: [string[], string][] = [
    [['add', '--', 'ls'], 'Missing argument <name>'],
    [['add', '', '--', 'ls'], "A server's name must not be empty."],
    [
      ['add', 'a', 'https://a.example', '-H', 'X-A: 1', '-H', 'x-a: 2'],
      'The header x-a is given twice for "a"',
    ],
    [['add', 'a', 'https://a.example', '--client-secret', '${S}'], '--client-secret requires --client-id'],
  ];
  for (const [args, message] of refusals) {
    expect(await place.json(args)).toMatchObject({ status: 2, value: { error: { message } } });
  }
});

it('B5: a secret for the shared file is refused without a terminal, and written with --allow-secret and a warning', async () => {
  const secret = 'sk-abcdef1234567890abcdef';
  const args = ['add', 'sec', '-s', 'project', '-e', `API_KEY=${secret}`, '--', 'ls'];
  const refused = await place.json(args);
  expect(refused).toMatchObject({
    status: 5,
    value: { error: { code: 'APPROVAL_REQUIRED', server: 'sec' } },
  });
  expect(JSON.stringify(refused)).not.toContain(secret);
  const header = ['add', 'sec2', 'https://example.com/mcp', '-s', 'project', '-H'];
  expect(await place.json([...header, `Authorization: Bearer ${secret}`])).toMatchObject({
    value: {
      error: {
        hint: `Write 'Bearer \${SEC2_TOKEN}' or '\${input:id}' instead, or use -s local; --allow-secret writes it in plain text.`,
      },
    },
  });
  const pasted = JSON.stringify({ url: `https://example.com/mcp?api_key=${secret}` });
  expect((await place.run(['add-json', 'sec', pasted, '-s', 'project'])).status).toBe(5);
  expect(place.read(place.projectFile)).toBeUndefined();
  const { status, stderr } = await place.run(['add', '--allow-secret', ...args.slice(1)]);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr:
      'warning: API_KEY is written to .mcp.json in plain text, which everyone with the project can read.\n',
  });
});

it('B5: at a terminal a secret for the shared file is stored, and a reference takes its place', async () => {
  const { status, screen } = await onTerminal(
    place,
    ['add', 'sec', '-s', 'project', '-e', 'API_KEY=sk-abcdef1234567890abcdef', '--', 'ls'],
    { answers: [{ after: 'looks like a secret', type: '\r' }], env: { PLUGBOARD_CREDENTIALS: 'file' } },
  );
  expect(status).toBe(0);
  // It says where the secret really goes.
  expect(screen).toContain('credentials.json (only you can read it)');
  expect(place.read(place.projectFile)).toEqual({
    mcpServers: { sec: { command: 'ls', env: { API_KEY: '${input:sec-API_KEY}' } } },
  });
  const set = await place.json(['set', 'sec', 'env.OTHER_TOKEN=sk-abcdef1234567890abcdef']);
  expect(set.value).toMatchObject({
    error: {
      hint: `Write '\${OTHER_TOKEN}' or '\${input:id}' instead; --allow-secret writes it in plain text.`,
    },
  });
  expect(readFileSync(join(place.home, 'credentials.json'), 'utf8')).toContain('sk-abcdef1234567890abcdef');
});

it('F32: a new entry is followed by what a person has to do: fill in, correct, enable', async () => {
  const entry = { command: 'node', args: ['nowhere.js'], env: { TOKEN: '<YOUR_TOKEN>' }, enabled: false };
  const { stdout, stderr } = await place.run(['add-json', 'oc', JSON.stringify(entry)]);
  expect({ last: stdout.trimEnd().split('\n').at(-1), stderr }).toEqual({
    last: 'It is disabled. Run plugboard enable oc to use it.',
    stderr:
      'note: "nowhere.js" is a relative path, and oc starts in a private folder, not in the project. Write an absolute path, or "${PROJECT_DIR}/nowhere.js" for the project you are in; "cwd": "." starts it in the project.\n' +
      'note: env.TOKEN looks like a placeholder (<YOUR_TOKEN>): replace it with plugboard set oc env.TOKEN=<value>\n',
  });
});
