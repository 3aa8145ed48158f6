/** Describes tools that are on hold: the reason, and the command that accepts one of them. */

import type { InspectedTool } from '../host/host-report.ts';
import { clean } from '../policy/clean.ts';
import { acceptCommand } from '../policy/pins-refusal.ts';
import type { Output } from './output.ts';
import { wrap } from './table.ts';

type Held = Pick<InspectedTool, 'tool' | 'held'>;

export function heldReason({ held }: Held): string {
  switch (held) {
    case 'new':
      return 'it is new since you first connected';
    case 'identity':
      return 'another server answers than the one you first connected to';
    default:
      return 'its definition has changed since you first connected';
  }
}

/** If a server's identity changed, all its tools are on hold and are accepted together. */
export function releaseCommand({ tool, held }: Held): string {
  return acceptCommand(tool.server, held === 'identity' ? undefined : tool.tool);
}

/** A held tool as `tools --json` prints it. */
export function heldDocument(held: Held): Record<string, string> {
  const { server, tool } = held.tool;
  return { server, tool, reason: heldReason(held), accept: releaseCommand(held) };
}

/** Formats a held tool for a listing: its name, the reason, and below it the command, which is never wrapped. */
export function heldLine(held: Held, { paint, columns }: Output): string[] {
  const name = clean(held.tool.tool, { multiline: false });
  const room = columns === undefined ? undefined : columns - 4;
  const [first = '', ...more] = wrap(`${name}  on hold: ${heldReason(held)}`, room);
  return [
    `${paint.warn('!')} ${first}`,
    ...more.map((line) => `    ${line}`),
    `    ${paint.faint('accept it:')} ${clean(releaseCommand(held), { multiline: false })}`,
  ];
}
