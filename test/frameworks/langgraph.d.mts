import type { Host } from '../../src/index.ts';

export function runApproved(
  host: Host,
  url: string,
  decision: object,
): Promise<{ readonly interrupts: unknown; readonly text: string }>;
