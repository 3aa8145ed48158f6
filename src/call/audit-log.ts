/** The audit log: one line for each call, in `audit.jsonl`. */

import { type AuditFileOptions, createAuditFile } from './audit-file.ts';
import { type AuditedCall, createAuditLine } from './audit-line.ts';

export interface AuditLog {
  record(call: AuditedCall): void;
  /** Writes all pending lines. */
  flush(): Promise<void>;
}

export function createAuditLog(options: AuditFileOptions): AuditLog {
  const { shapeOf, lineOf } = createAuditLine();
  const file = createAuditFile(options, lineOf);
  return {
    // Arguments may be large, and the caller may change them: only their shape is kept.
    record: ({ at, session, server, tool, arguments: args, decision, outcome, ms, code, bytes }) =>
      file.add({ at, session, server, tool, shape: shapeOf(args), decision, outcome, ms, code, bytes }),
    flush: () => file.flush(),
  };
}
