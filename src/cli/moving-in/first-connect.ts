/** Connects to every server once, so that its tool list is cached; does not wait for a server that hangs. */

import type { Host } from '../../host/host.ts';
import type { ServerReport } from '../../host/host-report.ts';
import { SERVED_SESSIONS } from '../../serve/served-host.ts';
import type { Context } from '../cli-command.ts';
import { whileConnecting } from '../progress-line.ts';

/** How long to wait for the remaining servers after the last one finished. */
const GRACE_MS = 5_000;
/** How long to wait for the first server to finish. */
const FIRST_MS = 15_000;

/** @param only names of the servers to connect; default: all */
export async function connectOnce(
  context: Context,
  only?: readonly string[],
): Promise<readonly ServerReport[]> {
  const { cwd, home, env, output, signal } = context;
  const { createHost } = await import('../../host/host.ts');
  signal.throwIfAborted();
  const host = await createHost({
    cwd,
    home: home.dir,
    env,
    watch: false,
    connect: 'none',
    // The same options as the gateway: a cached list is stored under the client capabilities it was requested with.
    sessions: SERVED_SESSIONS,
    ...(only === undefined ? {} : { only }),
  });
  try {
    const pending = await whileConnecting(output, host, () => settle(host, signal));
    return host.servers().map((report) => (pending.has(report.name) ? unanswered(report) : report));
  } finally {
    await host.close();
  }
}

/** Resolves to the servers that are still connecting when the wait ends. */
function settle(host: Host, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const pending = new Set(host.servers().map(({ name }) => name));
  return new Promise((resolve) => {
    let limit: NodeJS.Timeout | undefined;
    const waitFor = (ms: number): void => {
      clearTimeout(limit);
      if (pending.size === 0 || signal.aborted) resolve(pending);
      else limit = setTimeout(() => resolve(pending), ms);
    };
    signal.addEventListener('abort', () => waitFor(0), { once: true });
    for (const name of [...pending]) {
      const settled = (): void => {
        pending.delete(name);
        waitFor(GRACE_MS);
      };
      host.connect(name).then(settled, settled);
    }
    waitFor(FIRST_MS);
  });
}

function unanswered(report: ServerReport): ServerReport {
  return {
    ...report,
    status: 'connecting',
    error: {
      code: 'TIMEOUT',
      message: 'It did not respond in time',
      hint: `Run plugboard test ${report.name} to see what it does.`,
    },
  };
}
