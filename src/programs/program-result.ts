/** The results of programs as a model reads them. */

import type { ShapedResult } from '../call/shape.ts';
import type { ContentBlock } from '../catalog/accept-result.ts';
import type { ProgramEnd } from './frozen-programs.ts';

/** The engine's error of a full memory. */
const FULL = { name: 'InternalError', text: 'out of memory' };

export function callsText(calls: number): string {
  return calls === 1 ? 'It made 1 call' : `It made ${calls} calls`;
}

export function isOutOfMemory(end: ProgramEnd): boolean {
  return end.kind === 'threw' && end.name === FULL.name && end.text === FULL.text;
}

/** Returns the output of the value that a program returned: texts as they are, other values as JSON. */
export function returnedText(end: ProgramEnd): string | undefined {
  if (end.kind !== 'done' || end.json === undefined) return undefined;
  const value: unknown = JSON.parse(end.json);
  return typeof value === 'string' ? value : end.json;
}

export function endedResult(end: ProgramEnd, output: readonly ContentBlock[], calls: number): ShapedResult {
  if (end.kind === 'threw')
    return { content: [...output, { type: 'text', text: thrownText(end, calls) }], isError: true };
  const nothing = { type: 'text', text: `The program ended without output. ${callsText(calls)}.` } as const;
  return { content: output.length === 0 ? [nothing] : [...output], isError: false };
}

function thrownText({ name, text, stack }: Extract<ProgramEnd, { kind: 'threw' }>, calls: number): string {
  const line = /program:(\d+)/.exec(stack)?.[1];
  const where = line === undefined ? '' : ` (line ${line})`;
  return `The program failed: ${name === '' ? '' : `${name}: `}${text}${where}. ${callsText(calls)}.`;
}

export function pausedResult(
  id: string,
  reasons: readonly string[],
  output: readonly ContentBlock[],
  calls: number,
): ShapedResult {
  const text = [
    `The program is paused. ${callsText(calls)}, and it waits for the user:`,
    ...reasons.map((reason) => `- ${reason}`),
    `When the user has allowed it, call run with {"resume": ${JSON.stringify(id)}}; calls that were answered are not made again.`,
  ].join('\n');
  const structuredContent = { status: 'paused', program: id, reasons };
  return { content: [...output, { type: 'text', text }], structuredContent, isError: false };
}
