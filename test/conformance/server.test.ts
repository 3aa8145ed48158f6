import { expect, it } from 'vitest';
import { SUITE_TIMEOUT_MS, serverVerdicts } from './suite.ts';

it.each(['2025-11-25', '2026-07-28'])(
  'SRV-1: the gateway passes what the suite requires of a server of %s',
  async (requirements) => {
    const { passed, failed } = await serverVerdicts('./server-gateway.mjs', ['--requirements', requirements]);
    expect(failed).toEqual([]);
    expect(passed.length + failed.length).toBeGreaterThanOrEqual(30);
  },
  SUITE_TIMEOUT_MS * 2,
);
