import { expect, it } from 'vitest';
import { limitsFor } from '../../src/config/limits.ts';

it("CFG-2: a server's own limit wins over the person's default, and that over ours", () => {
  const settings = { defaults: { toolTimeoutMs: 5, maxTotalMs: 6 } };
  expect(limitsFor({ command: 'x', toolTimeoutMs: 1 }, settings)).toEqual({
    startupTimeoutMs: 30_000,
    toolTimeoutMs: 1,
    maxTotalMs: 6,
    maxOutputTokens: 25_000,
    maxConcurrentCalls: 64,
  });
});
