import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InputRequest } from '../../src/config/input-values.ts';
import { FIXTURES, HostWorld } from '../world/host-world.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

const env = { ...process.env, PLUGBOARD_CREDENTIALS: 'file' };
const servers = {
  echo: { command: process.execPath, args: [`${FIXTURES}/echo.mjs`], env: { KEY: `\${input:key}` } },
};

it('CFG-9: the library asks through its callback, once; without one the server fails with a hint', async () => {
  const silent = await world.host({ env, servers });
  await silent.ready();
  expect(silent.servers()).toMatchObject([
    {
      status: 'failed',
      error: { code: 'CONFIG_INVALID', hint: 'Give createHost an "input" function that asks for it.' },
    },
  ]);

  const asked: InputRequest[] = [];
  const input = async (request: InputRequest): Promise<string> => {
    asked.push(request);
    return 'a value';
  };
  const asking = await world.host({ env, servers, input });
  await asking.ready();
  expect(asking.servers()).toMatchObject([{ status: 'connected' }]);
  expect(asked).toEqual([{ id: 'key', server: 'echo', password: true }]);

  const later = await world.host({ env, servers });
  await later.ready();
  expect(later.servers()).toMatchObject([{ status: 'connected' }]);
});
