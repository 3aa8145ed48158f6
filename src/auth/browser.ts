/** Opens a login page in the user's browser: no shell, the url as one argument, its scheme checked. */

import { spawn } from 'node:child_process';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { isLoopbackHost } from '../policy/egress.ts';

/** How long we wait for an opener to fail before we treat it as started. */
export const OPENER_GRACE_MS = 1_000;

/** Returns the normalized url; throws EGRESS_REFUSED for anything but https, or http on loopback (A1). */
export function openableUrl(value: string | URL): string {
  const url = attempt(() => new URL(value), undefined);
  const allowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === undefined || !allowed || url.username !== '' || url.password !== '') {
    throw new PlugboardError(
      'EGRESS_REFUSED',
      'The server sent an address for the login that no browser should open',
      {
        hint: 'Only https addresses are opened. Ask the owner of the server about it.',
        detail: { permanent: true },
      },
    );
  }
  return url.href;
}

/** Resolves to true if a browser was started and to false if none is available; a missing browser never rejects. */
export function openBrowser(value: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const url = openableUrl(value);
  const opener = openerFor(process.platform, env);
  if (opener === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener.command, [...opener.args, url], {
      shell: false,
      detached: true,
      stdio: 'ignore',
      env,
      windowsHide: true,
    });
    const timer = setTimeout(() => resolve(true), OPENER_GRACE_MS);
    child.once('error', () => {
      clearTimeout(timer);
      resolve(false);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
    child.unref();
  });
}

/** Returns the opener command of the system; undefined if there is no display. */
export function openerFor(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
): { readonly command: string; readonly args: readonly string[] } | undefined {
  if (platform === 'darwin') return { command: 'open', args: [] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler'] };
  if (env['WSL_DISTRO_NAME']) return { command: 'wslview', args: [] };
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? { command: 'xdg-open', args: [] } : undefined;
}
