/** The audit log: one line for each call, in `audit.jsonl`. */

import { type AuditFileOptions, createAuditFile } from './audit-file.ts';
import { type AuditedCall, createAuditLine } from './audit-line.ts';

export interface AuditLog {
  record(call: AuditedCall): void;
  /** Writes all pending lines. */
  flush(): Promise<void>;
}

export function createAuditLog(options: AuditFileOptions): AuditLog {
  const file = createAuditFile(options);
  const lineOf = createAuditLine();
  return { record: (call) => file.add(lineOf(call)), flush: () => file.flush() };
}
