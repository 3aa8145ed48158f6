import { describe, expect, it } from 'vitest';
import { clientScenarios, expectPassed, SCENARIO_TIMEOUT_MS } from './suite.ts';

const SCENARIOS = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'request-metadata',
  'sep-2322-client-request-state',
  'http-standard-headers',
  'http-custom-headers',
  'http-invalid-tool-headers',
  'json-schema-ref-no-deref',
  'json-schema-2020-12-preservation',
];

/** The skills extension: not part of Plugboard. */
const LEFT_OUT = /^sep-2640-/;

describe('conformance of the client', () => {
  it('covers every scenario of the suite', async () => {
    const all = await clientScenarios();
    expect(all.filter((name) => !name.startsWith('auth/') && !LEFT_OUT.test(name))).toEqual(SCENARIOS);
  });

  it.each(SCENARIOS)('%s', (scenario) => expectPassed('./client.mjs', scenario), SCENARIO_TIMEOUT_MS);
});
