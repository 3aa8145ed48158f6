/** The audit log: one line for each call, in `audit.jsonl`. */

import { type AuditFileOptions, createAuditFile } from './audit-file.ts';
import { type AuditedCall, createAuditLine } from './audit-line.ts';

export interface AuditLog {
  /** Records a call. Arguments may be large, and the caller may change them: only their shape is kept. */
  record(call: AuditedCall, args: unknown): void;
  /** Writes all pending lines. */
  flush(): Promise<void>;
}

export function createAuditLog(options: AuditFileOptions): AuditLog {
  const { shapeOf, lineOf } = createAuditLine();
  const file = createAuditFile<{ readonly call: AuditedCall; readonly shape: string }>(
    options,
    ({ call, shape }) => lineOf(call, shape),
  );
  return {
    record: (call, args) => file.add({ call, shape: shapeOf(args) }),
    flush: () => file.flush(),
  };
}
