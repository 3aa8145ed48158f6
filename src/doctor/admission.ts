/** Checks whether a server may be started, and whether another entry with its name needs approval. */

import type { Check, CheckedServer } from './check.ts';

export function checkAdmission({ spec, report }: CheckedServer): Check | undefined {
  const { status, error } = report;
  const base = { id: 'admission', server: spec.name } as const;
  if (status === 'disabled') return { ...base, ok: true, message: 'It is switched off' };
  if (status !== 'untrusted' && status !== 'blocked') {
    const { waiting } = report;
    if (waiting === undefined) return undefined;
    return { ...base, ok: true, message: waiting.error.message, hint: waiting.error.hint };
  }
  return {
    ...base,
    ok: false,
    message: `It was not started: ${error?.message ?? status}`,
    ...(error?.hint === undefined ? {} : { hint: error.hint }),
  };
}
