/** Connects every server once, so that its list of tools is cached; a server that hangs is not waited for. */

import type { Host } from '../../host.ts';
import type { ServerReport } from '../../host-report.ts';
import { SERVED_SESSIONS } from '../../serve/served-sessions.ts';
import type { Context } from '../verb.ts';
import { whileConnecting } from '../waiting-line.ts';

/** How long a server may take beyond the last one that settled. */
const GRACE_MS = 5_000;
/** How long none of them may settle. */
const FIRST_MS = 15_000;

/** @param only names of the servers to connect; default: all */
export async function connectOnce(
  context: Context,
  only?: readonly string[],
): Promise<readonly ServerReport[]> {
  const { cwd, home, env, output, signal } = context;
  const { createHost } = await import('../../host.ts');
  signal.throwIfAborted();
  const host = await createHost({
    cwd,
    home: home.dir,
    env,
    watch: false,
    connect: 'none',
    // As the gateway connects: a list is cached under what the server was told that we can do.
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

/** Resolves to the servers that are still connecting when waiting for them is over. */
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
      message: 'It did not answer in time and was not waited for.',
      hint: `Run plugboard test ${report.name} to see what it does.`,
    },
  };
}
