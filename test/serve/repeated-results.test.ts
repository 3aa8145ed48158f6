/** `deduplicate` at the gateway: off, for all clients, and for those of a profile. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { LineClient } from './line-client.ts';
import { smallHost } from './small-host.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const text = 'a line of the result\n'.repeat(200);

it.each([
  ['is off', {}, undefined, false],
  ['applies to all clients', { deduplicate: true }, undefined, true],
  ['applies to clients of a profile', { profiles: { p: { deduplicate: true } } }, 'p', true],
  [
    'is that of the nearest profile',
    { deduplicate: true, profiles: { p: { extends: 'q' }, q: { deduplicate: false } } },
    'p',
    false,
  ],
])('CAL-8: deduplicate %s', async (_what, config, profile, isReferred) => {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-repeated-'));
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  const small = await smallHost({ tools: { read: { run: () => text } } }, { home });
  closers.push(() => rm(home, { recursive: true, force: true }), small.close);
  const client = new LineClient(small.host, '2025-11-25', {}, () => ({}), { profile });
  closers.push(() => client.leave());
  await client.open();
  const read = async (): Promise<string | undefined> => {
    const result = await client.request('tools/call', { name: 'small__read', arguments: {} });
    return (result as { content: { text: string }[] }).content[0]?.text;
  };
  expect(await read()).toBe(text);
  const again = await read();
  expect(again?.startsWith('[The same result as before in this session')).toBe(isReferred);
});
