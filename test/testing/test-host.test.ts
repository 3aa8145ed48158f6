import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createTestHost, scriptedServer } from '../../src/testing/index.ts';

describe('createTestHost', () => {
  it('has only the servers of the test, in a home that is gone after close', async () => {
    const weather = scriptedServer({ tools: { today: () => 'Sunny' } });
    const host = await createTestHost({
      servers: { weather: { inProcess: weather, approval: 'approve' } },
    });
    await host.ready();
    expect(host.servers().map(({ name }) => name)).toEqual(['weather']);
    expect((await host.call('mcp__weather__today')).content).toEqual([{ type: 'text', text: 'Sunny' }]);
    expect(host.home.startsWith(tmpdir())).toBe(true);
    await host.close();
    expect(existsSync(host.home)).toBe(false);
  });
});
