/** Reports a failed connection: the command or url that was tried, the error, and a hint. */

import { describeEntry } from '../config/describe.ts';
import { isRemote } from '../config/entry.ts';
import type { ServerReport } from '../host/host-report.ts';
import { type Check, type CheckedServer, plural } from './check.ts';

const MAX_TRIED_CHARS = 120;

export function checkConnect(context: CheckedServer): Check | undefined {
  const { spec, report } = context;
  const base = { id: 'connect', server: spec.name } as const;
  switch (report.status) {
    case 'disabled':
    case 'blocked':
    case 'untrusted':
      return undefined;
    case 'connected':
      return { ...base, ok: true, message: connected(report) };
    default:
      return {
        ...base,
        ok: false,
        message: `${tried(context)}: ${report.error?.message ?? `it is ${report.status}`}`,
        hint: report.error?.hint ?? 'plugboard test shows each step with its time.',
      };
  }
}

function connected({ protocolVersion, era, tools, connectMs = 0 }: ServerReport): string {
  return `Connected in ${Math.round(connectMs)} ms: protocol ${protocolVersion} (${era}), ${plural(tools, 'tool')}`;
}

/** Returns the command or url, with secrets replaced by their source. */
function tried({ spec }: CheckedServer): string {
  const { command, args, url } = describeEntry(spec);
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  const what = isRemote(spec.entry) ? `Asked ${String(url)}` : `Started ${words.join(' ')}`;
  return what.length > MAX_TRIED_CHARS ? `${what.slice(0, MAX_TRIED_CHARS)}…` : what;
}
