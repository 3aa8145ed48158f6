import type { Host } from '../../src/index.ts';

export function runApproved(
  host: Host,
  url: string,
  decision: object,
): Promise<{ readonly interrupts: unknown; readonly text: string }>;

export function runNode(
  host: Host,
  calls: readonly { readonly name: string; readonly args: object }[],
  decisions: readonly object[],
): Promise<{ readonly asked: unknown; readonly left: unknown; readonly texts: readonly string[] }>;
