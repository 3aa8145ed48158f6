import { describe, expect, it } from 'vitest';
import { clientScenarios, expectPassed, SCENARIO_TIMEOUT_MS } from './suite.ts';

/** Every auth scenario of the suite, those of extensions included. A new one in the suite fails the first test. */
const SCENARIOS = [
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/authorization-server-migration',
  'auth/iss-supported',
  'auth/iss-not-advertised',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/wif-jwt-bearer',
];

describe('conformance of logging in', () => {
  it('covers every auth scenario of the suite', async () => {
    expect((await clientScenarios()).filter((name) => name.startsWith('auth/'))).toEqual(SCENARIOS);
  });

  it.each(SCENARIOS)('%s', (scenario) => expectPassed('./client-auth.mjs', scenario), SCENARIO_TIMEOUT_MS);
});
