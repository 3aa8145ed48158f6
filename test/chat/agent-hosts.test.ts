import { afterEach, beforeEach, expect, it } from 'vitest';
import { AgentHosts } from '../../src/chat/agent-hosts.ts';
import type { Host } from '../../src/host/host.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { Place } from '../cli/command.ts';

let place: Place;
const clock = fakeClock();
let hosts: AgentHosts;
beforeEach(() => {
  place = new Place();
  hosts = new AgentHosts({ home: place.home, cwd: place.project, watch: false }, clock);
});
afterEach(async () => {
  await hosts.close();
  place.remove();
});

const used = (contextTokens: number): Promise<Host> =>
  hosts.use({ model: { contextTokens } }, async (host) => host);

it('a host is used again for ten minutes after its last turn, and closed then', async () => {
  const first = await used(1_000);
  await clock.advance(9 * 60_000);
  expect(await used(1_000)).toBe(first);
  await clock.advance(9 * 60_000);
  expect(await used(1_000)).toBe(first);
  await clock.advance(10 * 60_000);
  expect(await used(1_000)).not.toBe(first);
});

it('a host at work is not closed, however long it takes', async () => {
  await hosts.use({ toolSearch: true }, async (host) => {
    await clock.advance(60 * 60_000);
    expect(await hosts.use({ toolSearch: true }, async (same) => same)).toBe(host);
  });
});

it('of many hosts, the four that were used last are kept', async () => {
  const first = await used(1_000);
  const second = await used(2_000);
  for (const tokens of [3_000, 4_000, 5_000]) await used(tokens);
  expect(await used(2_000)).toBe(second);
  expect(await used(1_000)).not.toBe(first);
});

it('a host that cannot be made is tried again by the next turn', async () => {
  let isBroken = true;
  const builtIn = (): Record<string, never> => {
    if (isBroken) throw new Error('not yet');
    return {};
  };
  const made = new AgentHosts({ home: place.home, cwd: place.project, watch: false, builtIn }, clock);
  await expect(made.use({}, async () => 'used')).rejects.toThrow('not yet');
  isBroken = false;
  expect(await made.use({}, async () => 'used')).toBe('used');
  await made.close();
});
