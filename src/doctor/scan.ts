/** Reports descriptions that look like attacks. Advice only, because a rewording can avoid the scan. */

import { type Check, type CheckedServer, plural } from './check.ts';

const MAX_SHOWN = 3;

export function checkScan({ spec, findings }: CheckedServer): Check | undefined {
  if (findings.length === 0) return undefined;
  const shown = findings.slice(0, MAX_SHOWN).map(({ tool, what, quote }) => `${tool}: ${what}: ${quote}`);
  return {
    id: 'scan',
    server: spec.name,
    ok: false,
    message: `${plural(findings.length, 'description')} look like an attack: ${shown.join('; ')}`,
    hint: `Read them with plugboard tools, and switch the server off if you do not trust it.`,
  };
}
