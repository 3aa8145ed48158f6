/** POL-1: `lockedOnly` of the managed settings. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/entry.ts';
import { type Managed, readManaged } from '../../src/config/managed.ts';
import { blockingRule } from '../../src/policy/managed-rules.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'locked-only-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function policy(content: unknown): Promise<Managed> {
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(content));
  return readManaged(folder, folder);
}

const integrity = `sha512-${'A'.repeat(86)}==`;
const LOCK: ServerSpec['lock'] = {
  kind: 'locked',
  file: '/x/mcp.lock.json',
  server: {
    source: 'npm',
    package: 'packed',
    version: '1.0.0',
    integrity,
    requested: ['packed'],
    packages: { 'node_modules/packed': { version: '1.0.0', integrity } },
  },
};

function spec(entry: ServerSpec['entry'], more: Partial<ServerSpec> = {}): ServerSpec {
  return { name: 'one', scope: 'user', file: '/x/config.json', baseDir: '/x', raw: {}, entry, ...more };
}

it('allows locked packages, remote servers, and programs of the administrator; blocks everything else', async () => {
  const managed = await policy({ lockedOnly: true });
  const rule = (each: ServerSpec): string | undefined => blockingRule(each, managed, {});
  const npx = { command: 'npx', args: ['-y', 'packed'] };
  const blocked = `lockedOnly in ${join(folder, 'policy.json')} requires a lock for it`;
  expect({
    locked: rule(spec(npx, { lock: LOCK })),
    otherVersion: rule(spec({ command: 'npx', args: ['-y', 'packed@2.0.0'] }, { lock: LOCK })),
    unlocked: rule(spec(npx)),
    program: rule(spec({ command: 'node', args: ['/x.mjs'] })),
    shell: rule(spec({ command: 'sh', args: ['-c', 'npx packed'] })),
    code: rule(spec({ command: 'node' }, { scope: 'code' })),
    managedProgram: rule(spec({ command: '/opt/server' }, { scope: 'managed' })),
    managedPackage: rule(spec(npx, { scope: 'managed' })),
    remote: rule(spec({ url: 'https://example.com/mcp' })),
    builtIn: rule(spec({ command: 'node' }, { scope: 'code', builtIn: true })),
  }).toEqual({
    locked: undefined,
    otherVersion: blocked,
    unlocked: blocked,
    program: blocked,
    shell: blocked,
    code: blocked,
    managedProgram: undefined,
    managedPackage: blocked,
    remote: undefined,
    builtIn: undefined,
  });
});

it('closes everything if its value is not a boolean', async () => {
  expect((await policy({ lockedOnly: 'yes' })).closed).toContain('"lockedOnly" must be true or false');
});
