/** Checks of one server after its start was tried: approval, connection, speed, tools and their descriptions. */

import { MAX_GATEWAY_NAME_CHARS, plainName } from '../catalog/tool-names.ts';
import { describeEntry } from '../config/describe.ts';
import { isRemote } from '../config/entry.ts';
import type { ServerReport } from '../host/host-report.ts';
import { counted } from '../lib/counted.ts';
import type { Check, CheckedServer } from './check.ts';

/** Checks whether a server may be started, and whether another entry with its name needs approval. */
export function checkAdmission({ spec, report }: CheckedServer): Check | undefined {
  const { status, error } = report;
  const base = { id: 'admission', server: spec.name } as const;
  if (status === 'disabled') return { ...base, ok: true, message: 'Disabled' };
  if (status !== 'untrusted' && status !== 'blocked') {
    const { waiting } = report;
    if (waiting === undefined) return undefined;
    return { ...base, ok: true, message: waiting.error.message, hint: waiting.error.hint };
  }
  return {
    ...base,
    ok: false,
    message: `Not started: ${error?.message ?? status}`,
    ...(error?.hint === undefined ? {} : { hint: error.hint }),
  };
}

const MAX_TRIED_CHARS = 120;

/** Reports a failed connection: the command or url that was tried, the error, and a hint. */
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
        hint: report.error?.hint ?? 'Run plugboard test to see each step with its time.',
      };
  }
}

function connected({ protocolVersion, era, tools, connectMs = 0 }: ServerReport): string {
  return `Connected in ${Math.round(connectMs)} ms: protocol ${protocolVersion} (${era}), ${counted(tools, 'tool')}`;
}

/** Returns the command or url, with secrets replaced by their source. */
function tried({ spec }: CheckedServer): string {
  const { command, args, url } = describeEntry(spec);
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  const what = isRemote(spec.entry) ? `Connecting to ${String(url)}` : `Starting ${words.join(' ')}`;
  return what.length > MAX_TRIED_CHARS ? `${what.slice(0, MAX_TRIED_CHARS)}…` : what;
}

const SLOW_MS = 5000;

/** Checks whether a server takes too long to connect. */
export function checkSpeed({ spec, report }: CheckedServer): Check | undefined {
  const { connectMs } = report;
  if (connectMs === undefined || connectMs < SLOW_MS) return undefined;
  return {
    id: 'speed',
    server: spec.name,
    ok: false,
    message: `It took ${(connectMs / 1000).toFixed(1)} s to connect`,
    hint: !isRemote(spec.entry)
      ? 'If it is downloaded at each start (npx, uvx), install it once and name its program as the command.'
      : 'Check the network and the server. Cached tool lists are available immediately.',
  };
}

const MAX_SHOWN = 5;

/** Reports tools that cannot be used unchanged: omitted, on hold, or with names that are shortened for models. */
export function checkTools({ spec, report }: CheckedServer): Check | undefined {
  const left = report.quarantined ?? [];
  if (left.length === 0) return undefined;
  const shown = left.slice(0, MAX_SHOWN).map(({ tool, reason }) => `${tool} (${reason})`);
  return {
    id: 'tools',
    server: spec.name,
    ok: false,
    message: `${counted(left.length, 'tool')} left out: ${shown.join('; ')}${more(left.length)}`,
    hint: 'Report it to the author of the server; the other tools work. For changed tools, run plugboard pins.',
  };
}

export function checkNames({ spec, tools }: CheckedServer): Check | undefined {
  const long = tools.filter(
    ({ tool }) => plainName(spec.name, tool, 'gateway').length > MAX_GATEWAY_NAME_CHARS,
  );
  if (long.length === 0) return undefined;
  return {
    id: 'names',
    server: spec.name,
    ok: false,
    message: `${counted(long.length, 'name')} of tools have more than ${MAX_GATEWAY_NAME_CHARS} characters with the server's name, and are shortened for models: ${long
      .slice(0, MAX_SHOWN)
      .map(({ tool }) => tool)
      .join(', ')}${more(long.length)}`,
    hint: 'Give the server a shorter name to avoid this.',
  };
}

function more(count: number): string {
  return count > MAX_SHOWN ? `; and ${count - MAX_SHOWN} more` : '';
}

const MAX_FINDINGS_SHOWN = 3;

/** Reports descriptions that look like attacks. Advice only, because a rewording can avoid the scan. */
export function checkScan({ spec, findings }: CheckedServer): Check | undefined {
  if (findings.length === 0) return undefined;
  const shown = findings
    .slice(0, MAX_FINDINGS_SHOWN)
    .map(({ tool, what, quote }) => `${tool}: ${what}: ${quote}`);
  return {
    id: 'scan',
    server: spec.name,
    ok: false,
    message: `${counted(findings.length, 'description')} look like an attack: ${shown.join('; ')}`,
    hint: `Read them with plugboard tools, and disable the server if you do not trust it.`,
  };
}
