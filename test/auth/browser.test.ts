import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openableUrl, openBrowser, openerFor } from '../../src/auth/browser.ts';
import { PlugboardError } from '../../src/errors.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { openLoginWorld } from '../world/login-world.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A folder with an opener that writes down its arguments, one a line. */
async function fakeOpener(status = 0): Promise<{ env: NodeJS.ProcessEnv; argv(): Promise<string[]> }> {
  const dir = await mkdtemp(join(tmpdir(), 'plugboard-opener-'));
  open.push({ close: () => rm(dir, { recursive: true, force: true }) });
  const log = join(dir, 'argv');
  await writeFile(join(dir, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${log}"\nexit ${status}\n`);
  await chmod(join(dir, 'xdg-open'), 0o755);
  const env = { PATH: `${dir}:${process.env['PATH']}`, DISPLAY: ':0' };
  return { env, argv: async () => (await readFile(log, 'utf8')).trimEnd().split('\n') };
}

describe('opening a browser', () => {
  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'http://example.com/authorize',
    'ms-msdt:/id',
    '--help',
    '-a Calculator',
    '$(touch /tmp/owned)',
    'https://user:password@example.com/',
    '',
  ])('A1: refuses %j', (url) => {
    expect(() => openableUrl(url)).toThrow(PlugboardError);
  });

  // Protocol: 25-elicitation-45, 26-elicitation-37
  it('A1: hands any other url over as one argument, without a shell', async () => {
    const evil = 'https://auth.example.com/$(touch owned)`id`;a&b|c"d\' -e?x=%0a&y=$HOME';
    const { env, argv } = await fakeOpener();
    expect(await openBrowser(evil, env)).toBe(true);
    expect(await argv()).toEqual(['1', new URL(evil).href]);
  });

  it('AUT-6: a browser that does not open is reported, not thrown', async () => {
    const { env } = await fakeOpener(3);
    const url = 'https://auth.example.com/';
    expect(await openBrowser(url, env)).toBe(false);
    expect(await openBrowser(url, { PATH: '/nonexistent', DISPLAY: ':0' })).toBe(false);
    expect(await openBrowser(url, { PATH: env['PATH'] })).toBe(false);
  });

  it('finds the opener of each system, and none on a system without a display', () => {
    expect([
      openerFor('darwin', {}),
      openerFor('win32', {}),
      openerFor('linux', { WAYLAND_DISPLAY: 'wayland-0' }),
      openerFor('linux', { WSL_DISTRO_NAME: 'Debian' }),
      openerFor('linux', {}),
    ]).toEqual([
      { command: 'open', args: [] },
      { command: 'rundll32', args: ['url.dll,FileProtocolHandler'] },
      { command: 'xdg-open', args: [] },
      { command: 'wslview', args: [] },
      undefined,
    ]);
  });

  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://10.0.0.1/authorize',
    'https://169.254.169.254/',
  ])(
    'A1: a login whose authorization endpoint is %s opens nothing and registers no client',
    async (authorizationEndpoint) => {
      const as = await startAuthServer({ authorizationEndpoint });
      const world = await openLoginWorld();
      open.push(as, world);
      const opened: string[] = [];
      const error = await failure(
        world.auth({ url: as.url }, { openUrl: (url) => void opened.push(url) }).login(),
      );
      expect([error.code, opened]).toEqual([expect.stringMatching(/EGRESS_REFUSED|AUTH_FAILED/), []]);
      expect(as.log.filter(({ path }) => path === '/register')).toEqual([]);
    },
  );

  // Protocol: 25-authorization-75, 26-auth-security-8
  it('POL-5, A3: metadata that points at a cloud metadata service causes no request to it', async () => {
    const as = await startAuthServer({ metadataUrl: 'http://169.254.169.254/latest/meta-data' });
    const world = await openLoginWorld();
    open.push(as, world);
    const error = await failure(world.auth({ url: as.url }).login());
    expect(error.toJSON()).toEqual({
      code: 'EGRESS_REFUSED',
      message:
        'The server sent us to http://169.254.169.254, which was not contacted: it is not an https address',
      server: 'docs',
      hint: "If you trust that address, name it yourself: oauth.authorizationUrl and oauth.tokenUrl in the server's entry.",
    });
  });
});
