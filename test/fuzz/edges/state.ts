/** The files that Plugboard keeps for itself: a damaged one costs what it held, never a start or a call. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { knownCount, knownTools } from '../../../src/catalog/known-tools.ts';
import type { ServerSpec } from '../../../src/config/entry.ts';
import { homeAt } from '../../../src/config/home.ts';
import { readRecord } from '../../../src/daemon/protocol/daemon-place.ts';
import { createHost, type Host } from '../../../src/host/host.ts';
import { openTrust } from '../../../src/policy/trust.ts';
import { openSecrets } from '../../../src/secrets/store.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import { type Edge, mustBeOurs, orRefused } from '../edge.ts';

const DAEMON = join('run', 'daemon-0123456789ab.json');
const env = { PLUGBOARD_CREDENTIALS: 'file' };

interface World {
  readonly base: string;
  readonly spec: ServerSpec;
  start(): Promise<Host>;
}

export const state: Edge = {
  name: 'state',
  runs: 20,
  async open() {
    const world = makeWorld();
    const files = await firstRun(world);
    const names = [...files.keys()];
    return {
      corpus: [...files].map(([path, bytes]) => Buffer.concat([Buffer.from(`${path}\n`), bytes])),
      async check(input) {
        const end = input.indexOf('\n');
        const path = input.toString('utf8', 0, Math.max(end, 0));
        const damaged = files.has(path) ? path : names[input.length % names.length];
        for (const [name, bytes] of files) {
          write(join(world.base, name), name === damaged ? input.subarray(end + 1) : bytes);
        }
        await secondRun(world);
      },
      close: () => rmSync(world.base, { recursive: true, force: true }),
    };
  },
};

function makeWorld(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-fuzz-state-')));
  const scripted = scriptedServer({
    instructions: 'Be kind.',
    tools: { echo: { description: 'Echoes.', run: ({ message }) => String(message) }, list_files: () => '' },
  });
  const spec: ServerSpec = {
    name: 'shared',
    scope: 'project',
    file: join(base, '.mcp.json'),
    baseDir: base,
    entry: { command: 'x' },
    raw: { command: 'x' },
  };
  return {
    base,
    spec,
    async start() {
      const host = await createHost({
        home: base,
        cwd: base,
        env,
        watch: false,
        connect: 'all',
        approve: () => 'allow',
        servers: { small: { command: 'scripted' } },
        replaceTransport: () => scripted.transport(),
      });
      await host.ready();
      return host;
    },
  };
}

/** Everything that one run leaves behind. */
async function firstRun(world: World): Promise<ReadonlyMap<string, Buffer>> {
  const { base, spec } = world;
  const home = homeAt(base);
  const host = await world.start();
  await host.search('echo');
  await host.call('mcp__small__echo', { message: 'x' });
  await host.close();
  await openTrust({ home, env }).grant([spec]);
  await openSecrets({ home, env }).set('kept', 'secret');
  write(join(base, DAEMON), Buffer.from('{"pid":1,"version":"1","socket":"/s","token":"t","since":1}'));
  const paths = readdirSync(base, { recursive: true, encoding: 'utf8' }).map((name) => join(base, name));
  return new Map(
    paths
      .filter((path) => statSync(path).isFile() && !path.endsWith('.lock'))
      .map((path) => [relative(base, path), readFileSync(path)]),
  );
}

async function secondRun(world: World): Promise<void> {
  const home = homeAt(world.base);
  const host = await world.start();
  try {
    JSON.stringify([host.tools(), host.servers()]);
    await host.search('echo a message');
    const result = await host.call('mcp__small__echo', { message: 'again' }).catch(mustBeOurs);
    if ('content' in result && JSON.stringify(result.content) !== '[{"type":"text","text":"again"}]') {
      throw new Error(`answered with ${JSON.stringify(result)}`);
    }
  } finally {
    await host.close();
  }
  knownCount(home, world.spec);
  knownTools(home, world.spec);
  readRecord(join(world.base, DAEMON));
  const trust = openTrust({ home, env });
  JSON.stringify([...(await trust.verdicts([world.spec]))]);
  await orRefused(() => trust.grant([world.spec]));
  const secrets = openSecrets({ home, env });
  const before = await orRefused(() => secrets.get('kept'));
  const set = await orRefused(() => secrets.set('new', 'value').then(() => true));
  if (set !== undefined && (await secrets.get('kept')) !== before) throw new Error('a secret was lost');
}

function write(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
