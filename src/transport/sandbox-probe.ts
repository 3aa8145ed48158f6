/** Tests a sandbox before a server runs in it: tries to break out, with exactly the limits of the server. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The test takes milliseconds; a system where it hangs is not reliable. */
const PROBE_MS = 10_000;

export type Attempt =
  | { readonly held: true }
  /** The method of the escape. */
  | { readonly escaped: string }
  /** The sandbox could not be created. */
  | { readonly failed: string };

/** Prints each violation that succeeds; no output means that the sandbox holds. A violation changes nothing. */
const SCRIPT = `
while read -r name value rest; do
  case $name in
    CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:) case $value in *[!0]*) echo "it keeps capabilities"; break;; esac;;
    NoNewPrivs:) [ "$value" = 1 ] || echo "it can gain rights";;
  esac
done < /proc/self/status
[ -w /proc/sys/kernel/core_pattern ] && echo "it can change settings of the kernel"
[ -w /proc/sysrq-trigger ] && echo "it can command the kernel"
mount -o remount,rw,bind / 2>/dev/null && echo "it can mount / again"
umount /run 2>/dev/null && echo "it can uncover hidden folders"
case $1 in confined) ( : > /.plugboard-probe ) 2>/dev/null && echo "it can write outside";; esac
exit 0
`;

/** `limits`: arguments of bubblewrap. */
export async function tryToBreakOut(helper: string, limits: readonly string[]): Promise<Attempt> {
  const mode = limits.join(' ').includes('--remount-ro / ') ? 'confined' : 'open';
  const args = [...limits, '--', '/bin/sh', '-c', SCRIPT, 'probe', mode];
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  try {
    const { stdout } = await promisify(execFile)(helper, args, { timeout: PROBE_MS, env });
    const [first] = stdout.split('\n').filter(Boolean);
    return first === undefined ? { held: true } : { escaped: first };
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
    return { failed: said.trim().split('\n')[0] ?? '' };
  }
}
