import { expect, it } from 'vitest';
import { markUnapproved } from '../../src/config/written-over-api.ts';

const OWN = { command: 'node', args: ['a.mjs'], env: { A: 'b' } };
const REMOTE = { url: 'https://example.com/mcp', headers: { 'X-Org': 'us' }, oauth: { clientId: 'me' } };

it.each([
  [{ command: 'sh' }],
  [{ args: [] }],
  [{ env: {} }],
  [{ envVars: ['SECRET'] }],
  [{ cwd: '/tmp' }],
  [{ inheritEnv: true }],
  [{ sandbox: false }],
  [{ approval: 'approve' }],
  [{ trusted: true }],
  [{ tools: { x: { approval: 'approve' } } }],
  [{ pins: 'off' }],
  [{ type: 'stdio' }],
  [{ unheardOf: 1 }],
])('A31: an own entry that a program changes by %j waits for an approval', (change) => {
  const written = { ...OWN, ...change };
  expect(markUnapproved({ ...written, unapproved: false }, OWN, true)).toEqual({
    ...written,
    unapproved: true,
  });
});

it.each([[{ enabled: false }], [{ toolTimeoutMs: 1 }], [{ disabledTools: ['x'] }], [{ lifecycle: 'eager' }]])(
  'an own entry that a program changes by %j stays approved',
  (change) => {
    expect(markUnapproved({ ...OWN, ...change }, OWN, true)).toEqual({ ...OWN, ...change });
    const waiting = { ...OWN, unapproved: true };
    expect(markUnapproved({ ...OWN, ...change }, waiting, true)).toEqual({ ...waiting, ...change });
  },
);

it.each([
  [{ headersHelper: 'id' }],
  [{ headers: { X: '${SECRET}' } }],
  [{ url: 'https://example.com/${SECRET}' }],
  [{ headersFromEnv: { X: 'SECRET' } }],
  [{ bearerTokenEnvVar: 'SECRET' }],
  [{ oauth: { grant: 'client_credentials' } }],
  [{ trusted: true }],
  [{ approval: 'approve' }],
])('A31: a new address with %j waits for an approval', (change) => {
  const written = { ...REMOTE, ...change };
  expect(markUnapproved(written, undefined, false)).toEqual({ ...written, unapproved: true });
});

it('A31: a plain new address is used at once, but not in the place of a server that is there', () => {
  expect(markUnapproved(REMOTE, undefined, false)).toEqual(REMOTE);
  expect(markUnapproved(REMOTE, undefined, true)).toEqual({ ...REMOTE, unapproved: true });
  expect(markUnapproved(REMOTE, OWN, true)).toEqual({ ...REMOTE, unapproved: true });
});
