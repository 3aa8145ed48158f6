/** The folder of results that a model does not take, chosen by the program: its tools can read them there. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  createHost,
  type Host,
  type HostOptions,
  type ServerEntry,
  textOf,
  workspaceServer,
} from '../../src/index.ts';
import { scriptedServer } from '../../src/testing/index.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const PNG_ONLY = { media: new Set(['image/png']) };

function drawing(): Extract<ServerEntry, { inProcess: unknown }> {
  const data = Buffer.from(SVG).toString('base64');
  const inProcess = scriptedServer({
    tools: {
      draw: () => ({ content: [{ type: 'image', data, mimeType: 'image/svg+xml' }] }),
      talk: () => ({ content: [{ type: 'text', text: 'word '.repeat(40_000) }] }),
    },
  });
  return { inProcess, approval: 'approve' };
}

async function hostIn(cwd: string, options: HostOptions): Promise<Host> {
  const servers = { s: drawing(), ...options.servers };
  const host = await createHost({ cwd, configuration: false, log: () => {}, ...options, servers });
  onTestFinished(() => host.close());
  await host.ready();
  return host;
}

function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plugboard-outputs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'app'));
  return join(folder, 'app');
}

it('outputs: a confined workspace server reads what was saved, and only the user can', async () => {
  const app = project();
  const files = workspaceServer({ root: app });
  const home = join(app, '..', 'home');
  const host = await hostIn(app, { home, outputs: '.agent/outputs', servers: { files } });
  const note = textOf(await host.call('mcp__s__draw', {}, PNG_ONLY));
  const [, path = ''] = /saved as ([^\]]+)\]/.exec(note) ?? [];
  expect(path.startsWith(join(app, '.agent', 'outputs'))).toBe(true);
  expect(textOf(await host.call('mcp__files__read', { path }))).toContain(SVG);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(app, '.agent', 'outputs')).mode & 0o777).toBe(0o700);
  expect(readdirSync(home)).not.toContain('outputs');
  const { truncated } = await host.call('mcp__s__talk');
  expect(truncated?.file.startsWith(join(app, '.agent', 'outputs'))).toBe(true);
});

it('outputs: without a home nothing is saved, unless the program names a folder', async () => {
  const app = project();
  const without = await hostIn(app, { home: false });
  expect(textOf(await without.call('mcp__s__draw', {}, PNG_ONLY))).toContain('it was not saved');
  const outputs = join(app, 'saved');
  const host = await hostIn(app, { home: false, outputs });
  expect(textOf(await host.call('mcp__s__draw', {}, PNG_ONLY))).toContain(`saved as ${outputs}`);
  expect(readdirSync(outputs)).toHaveLength(1);
});
