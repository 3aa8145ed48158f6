import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeHome } from '../remove-home.ts';
import { type AskingHost, askingEntry, askingHost, called, ERAS, type Json } from './asking.ts';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const FALLBACK = 'deployed to staging: no one could be asked';

let world: AskingHost;
beforeAll(async () => {
  world = await askingHost();
});
afterAll(() => world.close());

/** Without what the host itself declares. */
function asked(capabilities: unknown): Json {
  const { extensions: _own, ...rest } = capabilities as Json;
  return rest;
}

describe.each(ERAS)('a %s client', (era) => {
  it.each<[string, Json]>([
    ['nothing', {}],
    ['forms', { elicitation: {} }],
    ['pages alone', { elicitation: { url: {} } }],
    ['sampling with tools', { sampling: { tools: {}, context: {} } }],
    ['roots', { roots: {} }],
    ['an experiment', { experimental: { 'com.example/x': { on: true } } }],
  ])(
    'SRV-10.11: a modern server gets the capabilities of the client that calls: %s',
    async (_what, declared) => {
      const client = await world.client(era, declared);
      expect(asked(await called(client, 'new__capabilities'))).toEqual(declared);
    },
  );

  it('SRV-10.11: without elicitation, a modern server takes its own way out', async () => {
    const client = await world.client(era, {});
    expect(await called(client, 'new__deploy')).toBe(FALLBACK);
  });

  it('SRV-10.11: without elicitation, a legacy server receives no declined answer of a person', async () => {
    const client = await world.client(era, {});
    const answer = await called(client, 'old__deploy').catch((error) => error);
    expect(answer).toEqual(
      era === 'legacy' ? 'asked: {"result":{"action":"cancel"}}' : expect.objectContaining({ code: -32021 }),
    );
  });
});

it('SRV-10.11: a legacy server receives the capabilities that any client of its process may have', async () => {
  const client = await world.client('legacy', {});
  expect(asked(await called(client, 'old__capabilities'))).toEqual({
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {} },
    roots: { listChanged: true },
  });
});

// Protocol: 26-elicitation-4, 26-sampling-7
it('SRV-10.11: two clients at once have their own capabilities at one modern server', async () => {
  const [forms, roots] = await Promise.all([
    world.client('legacy', { elicitation: { form: {} } }),
    world.client('modern', { roots: {} }),
  ]);
  const seen = await Promise.all([forms, roots, forms].map((client) => called(client, 'new__capabilities')));
  expect(seen.map(asked)).toEqual([
    { elicitation: { form: {} } },
    { roots: {} },
    { elicitation: { form: {} } },
  ]);
});

describe('the library', () => {
  // Protocol: 26-elicitation-4
  it('SRV-10.11: sessions have the capabilities of their own callbacks', async () => {
    const text = async (options: Parameters<typeof world.host.session>[0]): Promise<Json> => {
      const session = world.host.session(options);
      const { content } = await session.call('mcp__new__capabilities');
      session.end();
      return asked(content[0]?.type === 'text' ? JSON.parse(content[0].text) : {});
    };
    const elicit = (): { action: 'cancel' } => ({ action: 'cancel' });
    expect([
      await text({}),
      await text({ elicit }),
      await text({ elicit, elicitation: 'never' }),
      await text({ sample: () => undefined, sampling: { tools: true }, roots: [] }),
    ]).toEqual([{}, { elicitation: { form: {}, url: {} } }, {}, { sampling: { tools: {} }, roots: {} }]);
  });

  it('SRV-10.11: `elicitation: "never"` of the host holds for every client', async () => {
    const never = await askingHost({ new: askingEntry('modern') }, { elicitation: 'never' });
    const client = await never.client('modern', { elicitation: {} });
    expect(await called(client, 'new__deploy')).toBe(FALLBACK);
    await never.close();
  });
});

it('SRV-10.11: plugboard call without a terminal has no one to ask', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'plugboard-capabilities-'));
  const home = join(scratch, 'home');
  mkdirSync(home);
  const mcpServers = { old: askingEntry('legacy'), new: askingEntry('modern') };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
  const env = { ...process.env, PLUGBOARD_HOME: home };
  const call = async (server: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, 'call', server, 'deploy'], {
      env,
      cwd: scratch,
    });
    return stdout.trim();
  };
  expect([await call('new'), await call('old')]).toEqual([FALLBACK, 'asked: {"result":{"action":"cancel"}}']);
  removeHome(scratch);
});
