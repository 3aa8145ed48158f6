/** Formats one server of `list`: a row of fixed columns, and below it the error. */

import { basename } from 'node:path';
import { isPersonal } from '../config/scopes.ts';
import type { ServerReport } from '../host/host-report.ts';
import { counted } from '../lib/counted.ts';
import { clean, oneLine } from '../policy/clean.ts';
import type { Reached } from './entry-lines.ts';
import type { Output, Paint } from './output.ts';
import { cut, padEnd, width, wrap } from './text-layout.ts';

/** Maximum width of the name column, so that the rest of the table stays readable. */
const MAX_NAME_CELLS = 40;
/** Maximum number of stderr lines shown for a failed server. */
const MAX_STDERR_LINES = 8;
const DETAIL_INDENT = '    ';
/** Width of the columns after the name: transport, scope and status, each with its gap. */
const STATUS_CELLS = '999 tools  2025-11-25 legacy  99999 ms'.length;
const ROW_CELLS: number = '  stdio  project  '.length + STATUS_CELLS + '  '.length;

/** How each status is shown, in the order of the summary. */
const STATUSES: Readonly<
  Record<
    ServerReport['status'],
    { readonly glyph: string; readonly paint: keyof Paint; readonly words: string }
  >
> = {
  connected: { glyph: '✔', paint: 'good', words: 'connected' },
  connecting: { glyph: '…', paint: 'faint', words: 'connecting…' },
  idle: { glyph: '·', paint: 'faint', words: 'idle' },
  disconnected: { glyph: '·', paint: 'faint', words: 'disconnected' },
  failed: { glyph: '✖', paint: 'bad', words: 'failed' },
  needs_auth: { glyph: '!', paint: 'warn', words: 'needs a login' },
  needs_client_registration: { glyph: '!', paint: 'warn', words: 'needs a client registration' },
  untrusted: { glyph: '!', paint: 'warn', words: 'not approved' },
  blocked: { glyph: '✖', paint: 'warn', words: 'blocked by policy' },
  disabled: { glyph: '·', paint: 'faint', words: 'disabled' },
};

export interface RowLayout {
  readonly output: Output;
  readonly nameCells: number;
}

/** A report with the server's command and lock, or its url, as `list` prints it. */
export interface ListedServer extends ServerReport, Reached {}

export function statusText({ status }: ServerReport): string {
  return STATUSES[status].words;
}

/** Returns a layout that is the same for all rows and known in advance, so that rows can be printed one by one. */
export function rowLayout(output: Output, servers: readonly Pick<ServerReport, 'name'>[]): RowLayout {
  const widest = Math.max(0, ...servers.map(({ name }) => width(oneLine(name))));
  return { output, nameCells: Math.min(widest, MAX_NAME_CELLS) };
}

/** Returns the row, and below it the reason, hint and end of stderr, if any. */
export function reportLines(report: ListedServer, layout: RowLayout, spinner?: string): string[] {
  const { output, nameCells } = layout;
  const { paint, columns } = output;
  // The lock comes first: a long command is cut at its end.
  const reached = oneLine(`${lockedText(report)}${report.command ?? report.url ?? ''}`);
  const rowCells = 'x '.length + nameCells + ROW_CELLS;
  // Computed the same way for every state, so that a redrawn list does not move.
  const hasRoom = columns === undefined || rowCells + width(reached) <= columns;
  const first = row(report, layout, spinner, hasRoom && reached !== '' ? reached : undefined);
  const under = hasRoom || reached === '' ? [] : [paint.faint(cut(DETAIL_INDENT + reached, columns))];
  return [first, ...under, ...details(report, output)];
}

function lockedText({ lock, command = '' }: ListedServer): string {
  if (lock === undefined) return '';
  if (!('version' in lock)) return 'lock cannot be used: ';
  return command.includes(`@${lock.version}`) ? 'locked: ' : `locked to ${lock.version}: `;
}

function row(
  report: ServerReport,
  { output, nameCells }: RowLayout,
  spinner: string | undefined,
  reached: string | undefined,
): string {
  const { paint, columns } = output;
  const { glyph, paint: colour } = STATUSES[report.status];
  const cells = [
    padEnd(cut(oneLine(report.name), nameCells), nameCells),
    padEnd(report.transport, 'stdio'.length),
    padEnd(report.scope, 'project'.length),
    reached === undefined ? statusCells(report) : padEnd(statusCells(report), STATUS_CELLS),
    ...(reached === undefined ? [] : [reached]),
  ];
  const text = cells.join('  ').trimEnd();
  const mark = report.status === 'connecting' ? (spinner ?? glyph) : glyph;
  const room = columns === undefined ? text : cut(text, columns - 2);
  return `${paint[colour](mark)} ${colour === 'faint' ? paint.faint(room) : room}`;
}

function statusCells(report: ServerReport): string {
  if (report.status === 'connected') return connectedCells(report);
  // Only the person can have disabled their own entry, so it is not stated who did.
  const isOwn = report.disabledBy === undefined || isPersonal(report);
  const words = isOwn ? STATUSES[report.status].words : disabledText(report.disabledBy);
  return report.status === 'idle' && report.tools > 0 ? `${words}, ${toolCount(report.tools)} known` : words;
}

/** Describes who disabled a server. */
export function disabledText({ by, file }: NonNullable<ServerReport['disabledBy']>): string {
  if (by === 'you') return 'disabled by you';
  return file === undefined ? 'disabled' : `disabled in ${oneLine(basename(file))}`;
}

export function toolCount(tools: number): string {
  return counted(tools, 'tool');
}

function connectedCells(report: ServerReport): string {
  const tools = `${report.tools} ${report.tools === 1 ? 'tool ' : 'tools'}`;
  const protocol = [report.protocolVersion, report.era].filter(Boolean).join(' ');
  const time = report.connectMs === undefined ? '' : `${Math.round(report.connectMs)} ms`;
  return [
    tools.padStart('999 tools'.length),
    padEnd(clean(protocol), '2025-11-25 legacy'.length),
    time.padStart(8),
  ]
    .join('  ')
    .trimEnd();
}

function details(report: ServerReport, output: Output): string[] {
  const { paint, columns } = output;
  const room = columns === undefined ? undefined : columns - DETAIL_INDENT.length;
  const wrapped = (text: string): string[] => wrap(oneLine(text), room);
  const lines: string[] = [];
  if (report.error !== undefined && report.status !== 'disabled') {
    lines.push(...wrapped(report.error.message));
    if (report.error.hint) lines.push(...wrapped(`hint: ${report.error.hint}`));
    const tail = report.error.stderr === undefined ? [] : clean(report.error.stderr).trimEnd().split('\n');
    for (const line of tail.slice(-MAX_STDERR_LINES)) {
      lines.push(paint.faint(room === undefined ? `│ ${line}` : cut(`│ ${line}`, room)));
    }
  }
  if (report.waiting !== undefined) {
    const { message, hint } = report.waiting.error;
    lines.push(...wrapped(message).map(paint.warn), ...wrapped(`hint: ${hint}`));
  }
  for (const { tool, reason } of report.quarantined ?? []) {
    lines.push(...wrapped(`${tool} is not available: ${reason}`).map(paint.warn));
  }
  return lines.map((line) => DETAIL_INDENT + line);
}

/** Summarizes the servers by status: "9 connected, 1 failed". */
export function summary(reports: readonly ServerReport[]): string {
  return (Object.keys(STATUSES) as ServerReport['status'][])
    .map((status) => ({ status, count: reports.filter((report) => report.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status === 'untrusted' ? WAITING : STATUSES[status].words}`)
    .join(', ');
}

/** Worded as a request, because the person has to approve them. */
const WAITING = 'waiting for your approval';
