/** Sixty hostile programs: each ends in the way that its row says, and the next program works. */

import { expect, it } from 'vitest';
import { HOSTILE } from '../fixtures/hostile-programs.mjs';
import { programWorld } from './programs-world.ts';

/** Far below what a test waits for; each program that computes without end takes this long. */
const LIMITS = { cpuMs: 600, wallMs: 60_000, memoryMb: 24, calls: 20, outputTokens: 500, storedKb: 16 };

/** Which limit is reached first can depend on the machine. */
function isExpected(ended: string, expected: string): boolean {
  if (expected === 'either') return ended !== 'INTERNAL';
  return expected === 'limit' ? ['TIMEOUT', 'LIMIT_EXCEEDED'].includes(ended) : ended === expected;
}

it('CAL-9: hostile programs end with a clear error, and the next program works', async () => {
  const { host } = await programWorld({ codeMode: LIMITS });
  const outcome = async (code: string): Promise<string> => {
    try {
      const { content, isError } = await host.call('run', { code });
      return isError ? 'failed' : content.map((block) => (block.type === 'text' ? block.text : '')).join();
    } catch (thrown) {
      return (thrown as { readonly code: string }).code;
    }
  };
  const wrong: string[] = [];
  for (const [name, code, expected] of HOSTILE) {
    const ended = await outcome(code);
    if (!isExpected(ended, expected)) wrong.push(`${name}: ${ended}`);
    const next = await outcome('return "next"');
    if (next !== 'next') wrong.push(`after ${name}: ${next}`);
  }
  expect(HOSTILE).toHaveLength(60);
  expect(wrong).toEqual([]);
});
