/** Shows on a terminal which servers a command is waiting for, once the wait is noticeable (UI-1). */

import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import type { CommandHost } from './with-host.ts';

/** Shorter waits are not shown. */
const PATIENCE_MS = 500;
const REDRAW_MS = 250;

/** Runs work that connects servers, and shows which of them are still pending. */
export async function whileConnecting<T>(
  output: Output,
  host: Pick<CommandHost, 'servers'>,
  work: () => Promise<T>,
): Promise<T> {
  if (!output.liveNotes) return work();
  const line = new ProgressLine(output, 'connecting');
  const draw = (): void => {
    const servers = host.servers().filter(({ status }) => status !== 'disabled');
    const pending = servers.filter(({ status }) => status === 'connecting' || status === 'idle');
    if (pending.length === 0) return;
    const names = pending.map(({ name }) => clean(name, { multiline: false })).join(', ');
    line.show({ progress: servers.length - pending.length, total: servers.length, message: names });
  };
  let redraw: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    draw();
    redraw = setInterval(draw, REDRAW_MS);
  }, PATIENCE_MS);
  try {
    return await work();
  } finally {
    clearTimeout(first);
    clearInterval(redraw);
    line.clear();
  }
}
