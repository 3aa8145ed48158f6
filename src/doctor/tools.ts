/** Reports tools that cannot be used unchanged: omitted, on hold, or with names that are shortened for models. */

import { MAX_GATEWAY_NAME_CHARS, plainName } from '../catalog/tool-names.ts';
import { type Check, type CheckedServer, plural } from './check.ts';

const MAX_SHOWN = 5;

export function checkTools({ spec, report }: CheckedServer): Check | undefined {
  const left = report.quarantined ?? [];
  if (left.length === 0) return undefined;
  const shown = left.slice(0, MAX_SHOWN).map(({ tool, reason }) => `${tool} (${reason})`);
  return {
    id: 'tools',
    server: spec.name,
    ok: false,
    message: `${plural(left.length, 'tool')} left out: ${shown.join('; ')}${more(left.length)}`,
    hint: 'Tell the author of the server; the other tools work. For changed tools: plugboard pins.',
  };
}

export function checkNames({ spec, tools }: CheckedServer): Check | undefined {
  const long = tools.filter(
    ({ tool }) => plainName(spec.name, tool, 'gateway').length > MAX_GATEWAY_NAME_CHARS,
  );
  if (long.length === 0) return undefined;
  return {
    id: 'names',
    server: spec.name,
    ok: false,
    message: `${plural(long.length, 'name')} of tools have more than ${MAX_GATEWAY_NAME_CHARS} characters with the server's name, and are shortened for models: ${long
      .slice(0, MAX_SHOWN)
      .map(({ tool }) => tool)
      .join(', ')}${more(long.length)}`,
    hint: 'A shorter name for the server keeps them whole.',
  };
}

function more(count: number): string {
  return count > MAX_SHOWN ? `; and ${count - MAX_SHOWN} more` : '';
}
