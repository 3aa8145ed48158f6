import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { InputQuestion, ServerSpec } from '../../src/config/entry.ts';
import { type AskInput, type InputRequest, InputValues } from '../../src/config/input-values.ts';
import { inputIds, parseInputs } from '../../src/config/inputs.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openSecrets } from '../../src/secrets/store.ts';
import { type Scratch, scratch } from '../world/scratch.ts';

function values({ home }: Scratch, ask?: AskInput): InputValues {
  const secrets = openSecrets({ home, env: { PLUGBOARD_CREDENTIALS: 'file' } });
  return new InputValues({ home, ask, secrets: () => Promise.resolve(secrets) });
}

function spec(text: string, more: Partial<ServerSpec> = {}): ServerSpec {
  const entry = { command: 'x', env: { A: text } };
  return { name: 's', scope: 'user', entry, raw: entry, baseDir: '/p', ...more };
}

const own = (question: Partial<InputQuestion> = {}): InputQuestion[] => [
  { id: 'key', owner: '', password: true, ...question },
];

describe('answers that are in no file', () => {
  it('CFG-9: are asked for once, kept, and found by everybody after that', async () => {
    const place = scratch();
    const asked: InputRequest[] = [];
    const store = values(place, async (request) => {
      asked.push(request);
      return 'abcd';
    });
    const questions = own({ description: 'The key' });
    const answer = { values: new Map([['key', 'abcd']]), secrets: ['abcd'] };
    expect(await store.of(spec(`\${input:key}`), questions)).toEqual({ values: new Map(), secrets: [] });
    expect(await store.of(spec(`\${input:key}`), questions, { ask: true })).toEqual(answer);
    expect(await values(place).of(spec(`a \${input:key}`), questions, { ask: true })).toEqual(answer);
    expect(asked).toEqual([{ id: 'key', server: 's', description: 'The key', password: true }]);
    expect(readFileSync(place.home.credentials, 'utf8')).toContain('abcd');
  });

  it('CFG-9: are asked for once, though several need them at the same time', async () => {
    const place = scratch();
    let asked = 0;
    const ask: AskInput = async () => {
      asked += 1;
      return `answer ${asked}`;
    };
    const needy = Array.from({ length: 4 }, () =>
      values(place, ask).of(spec(`\${input:key}`), own(), { ask: true }),
    );
    const found = await Promise.all(needy);
    expect(found.map((each) => each.values.get('key'))).toEqual(Array(4).fill('answer 1'));
  });

  it('CFG-9: no answer is none, a default counts without one, and what may be seen is no secret', async () => {
    const place = scratch();
    const silent = values(place, async () => '');
    expect(await silent.of(spec(`\${input:key}`), own(), { ask: true })).toEqual({
      values: new Map(),
      secrets: [],
    });
    expect(await silent.of(spec(`\${input:key}`), own({ password: false, fallback: 'eu' }))).toEqual({
      values: new Map([['key', 'eu']]),
      secrets: [],
    });
  });

  it("POL-2: answers for the user's own servers are not passed to those of a project or plugin", async () => {
    const place = scratch();
    const store = values(place);
    await store.set({ id: 'key', owner: '' }, 'mine');
    const found = async (scope: ServerSpec['scope']): Promise<unknown> =>
      (await store.of(spec(`\${input:key}`, { scope }), own())).values.get('key');
    expect([await found('user'), await found('local'), await found('code')]).toEqual([
      'mine',
      'mine',
      'mine',
    ]);
    expect([await found('project'), await found('plugin')]).toEqual([undefined, undefined]);
    await store.set({ id: 'key', owner: '/p' }, 'theirs');
    expect([await found('project'), await found('user')]).toEqual(['theirs', 'mine']);
  });

  it('CFG-9: are looked for where references are filled in, and nowhere else', () => {
    const entry = {
      url: `https://x/\${input:a}`,
      headers: { B: `Bearer \${input:b} \${input:a}`, C: '$' + `\${input:c}` },
      oauth: { clientSecret: `\${input:d}` },
      headersHelper: `\${input:e}`,
    };
    expect(inputIds({ entry })).toEqual(['a', 'b', 'd']);
  });
});

describe('questions', () => {
  it('CFG-9: are read from config.json and .mcp.json in the shape of VS Code; a broken list is reported with its place', async () => {
    const place = scratch();
    place.write(
      place.home.config,
      '{ "inputs": [{ "id": "a", "type": "promptString", "password": false }] }',
    );
    place.write(
      '.mcp.json',
      '{ "inputs": [{ "type": "pickString", "id": "b", "options": ["x"], "default": "x" }] }',
    );
    const { inputs, problems } = await loadConfig({ cwd: place.root, home: place.home });
    expect(inputs).toEqual([
      { id: 'a', owner: '', password: false },
      { id: 'b', owner: place.root, password: true, options: ['x'], fallback: 'x' },
    ]);
    expect(problems).toEqual([]);
    place.write('.mcp.json', '{\n "inputs": [{ "id": 5, "type": "promptStrin" }]\n}');
    expect((await loadConfig({ cwd: place.root, home: place.home })).problems).toMatchObject([
      { line: 2, message: '"inputs[0].id" must be a string that is not empty, not a number' },
      { line: 2, hint: 'Did you mean "promptString"?' },
    ]);
    expect(parseInputs({}, '').faults).toMatchObject([
      { message: '"inputs" must be a list of questions, not an object' },
    ]);
  });
});
