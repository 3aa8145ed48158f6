import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ConformanceGateway, conformanceGateway, EXCEPTIONS } from './gateway.ts';
import { SUITE_TIMEOUT_MS, serverVerdicts } from './suite.ts';

let gateway: ConformanceGateway;
beforeEach(async () => {
  gateway = await conformanceGateway();
});
afterEach(() => gateway.close());

it.each(['2025-11-25', '2026-07-28'])(
  'SRV-1: `plugboard serve --http` passes every scenario that the suite has for a server of %s',
  async (requirements) => {
    const { passed, failed, unscored } = await serverVerdicts(gateway, ['--requirements', requirements]);
    const expected = requirements === '2026-07-28' ? Object.keys(EXCEPTIONS) : [];
    expect({ failed, unscored: unscored.failed }).toEqual({ failed: [], unscored: expected });
    expect(passed.length).toBeGreaterThanOrEqual(30);
  },
  SUITE_TIMEOUT_MS * 2,
);
