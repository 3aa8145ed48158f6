/** A host for tests, with its own temporary home and without configuration files. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';

/**
 * Like `createHost`, in a temporary home and an empty project that `close()` deletes: the person's servers, logins,
 * rules, caches and pins are neither read nor written. The environment contains only `PATH`. Each option can be
 * overridden.
 *
 * @param options - Options of `createHost`.
 * @returns The host; `close()` deletes its folders.
 * @throws PlugboardError `CONFIG_INVALID` for an invalid option.
 * @example
 * const weather = scriptedServer({ tools: { today: () => 'Sunny' } });
 * const agent = await createTestHost({ servers: { weather: { inProcess: weather, approval: 'approve' } } });
 * await agent.ready();
 * const { content } = await agent.call('mcp__weather__today');
 * content; // → [{ type: 'text', text: 'Sunny' }]
 * await agent.close();
 */
export async function createTestHost(options: HostOptions = {}): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'plugboard-test-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const cwd = join(folder, 'project');
  try {
    await mkdir(cwd);
    const { createHost } = await import('../host/host-library.ts');
    return await createHost({
      watch: false,
      ...options,
      home: options.home ?? join(folder, 'home'),
      cwd: options.cwd ?? cwd,
      // Keeps secrets out of the system's keyring.
      env: options.env ?? { PATH: process.env['PATH'], PLUGBOARD_CREDENTIALS: 'file' },
      closed: remove,
    });
  } catch (error) {
    await remove();
    throw error;
  }
}
