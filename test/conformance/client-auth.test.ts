import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The official suite wants Node 22 and lives outside the project, so that nothing of ours runs on it by accident;
// the client under test runs on the Node that runs this test.
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const NODE = `node-${process.platform}-${process.arch}`;
const CACHE = fileURLToPath(new URL('../../.cache/conformance', import.meta.url));
const DRIVER = fileURLToPath(new URL('./client-auth.mjs', import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;
const SCENARIO_TIMEOUT_MS = 60_000;

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

const run = promisify(execFile);
let output: string;

beforeAll(async () => {
  output = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
  if (existsSync(suiteFile())) return;
  await mkdir(CACHE, { recursive: true });
  const packages = [SUITE, ...(needsNode() ? [`${NODE}@22`] : [])];
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', CACHE, ...packages], {
    cwd: CACHE,
    timeout: INSTALL_TIMEOUT_MS,
  });
}, INSTALL_TIMEOUT_MS);

afterAll(() => rm(output, { recursive: true, force: true }));

function needsNode(): boolean {
  return Number(process.versions.node.split('.')[0]) < 22;
}

function suiteFile(): string {
  return join(CACHE, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
}

async function conformance(args: readonly string[]): Promise<string> {
  const node = needsNode() ? join(CACHE, 'node_modules', NODE, 'bin', 'node') : process.execPath;
  const result = await run(node, [suiteFile(), ...args], { timeout: SCENARIO_TIMEOUT_MS }).catch(
    (failed: { stdout?: string; stderr?: string }) => failed,
  );
  return `${result.stdout ?? ''}${result.stderr ?? ''}`;
}

describe('conformance of logging in', () => {
  it('knows every auth scenario that the suite has', async () => {
    const listed = [...(await conformance(['list', '--client'])).matchAll(/- (auth\/\S+)/g)].map(
      ([, name]) => name,
    );
    expect(listed).toEqual(SCENARIOS);
  });

  it.each(SCENARIOS)(
    '%s',
    async (scenario) => {
      const command = `${process.execPath} ${DRIVER}`;
      const report = await conformance([
        'client',
        '--command',
        command,
        '--scenario',
        scenario,
        '-o',
        output,
      ]);
      const summary = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(report);
      const [, passed, all, failed, warnings] = summary ?? [];
      const problems = report.split('\n').filter((line) => /FAILURE|WARNING/.test(line));
      expect({ passed, failed, warnings, problems }).toEqual({
        passed: all,
        failed: '0',
        warnings: '0',
        problems: [],
      });
      expect(Number(passed)).toBeGreaterThan(0);
      expect(report).toContain('OVERALL: PASSED');
    },
    SCENARIO_TIMEOUT_MS,
  );
});
