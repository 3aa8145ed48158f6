import { expect, it } from 'vitest';
import { conformanceGateway, EXCEPTIONS } from './gateway.ts';
import { SUITE_TIMEOUT_MS, serverVerdicts } from './suite.ts';

it(
  'SRV-1: `plugboard serve --http` passes every scenario that the suite has, extensions included',
  async () => {
    const gateway = await conformanceGateway();
    try {
      const { passed, failed } = await serverVerdicts(gateway, ['--suite', 'all']);
      expect(failed).toEqual(Object.keys(EXCEPTIONS));
      expect(passed.length).toBeGreaterThanOrEqual(60);
    } finally {
      await gateway.close();
    }
  },
  SUITE_TIMEOUT_MS * 2,
);
