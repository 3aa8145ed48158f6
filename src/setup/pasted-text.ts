/** Reads what a person pastes to add a server: JSON of a README, a command line, or an address. */

import { placeholdersIn } from '../config/placeholders.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { nameOfEntry, readCommandLine } from './command-line.ts';
import { pastedServers } from './pasted-servers.ts';
import type { SetupContext } from './setup-context.ts';

export interface PastedText {
  readonly kind: 'json' | 'command' | 'url';
  readonly servers: readonly {
    readonly name: string;
    readonly entry: JsonObject;
    /** Settings of other agents that are left out. */
    readonly lost: readonly string[];
    readonly notes: readonly string[];
  }[];
}

const HINT = 'Paste JSON with "mcpServers", a command line, or an http address.';
const FENCE = /```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```/;

/** @throws PlugboardError USAGE or CONFIG_INVALID, with the place of a syntax error. */
export function readPasted(context: SetupContext, text: string): PastedText {
  // A whole section of a README: its first block of code is meant.
  const plain = (FENCE.exec(text)?.[1] ?? text).trim();
  if (/^["{[]/.test(plain) || /^\/[/*]/.test(plain))
    return { kind: 'json', servers: fromJson(context, plain) };
  const [line = ''] = plain
    .replaceAll(/\\\r?\n\s*/g, ' ')
    .split(/\r?\n/)
    .filter((each) => each.trim() !== '' && !each.trim().startsWith('#'));
  const read = withHint(() => readCommandLine(line));
  if (read === undefined) throw new PlugboardError('USAGE', 'The text has no server', { hint: HINT });
  const { name, entry } = read;
  const kind = typeof entry['url'] === 'string' ? 'url' : 'command';
  return { kind, servers: [{ name, entry, lost: [], notes: notesOn(entry) }] };
}

function fromJson(context: SetupContext, text: string): PastedText['servers'] {
  return withHint(() => pastedServers(context, text)).map(({ name, raw, lost }) => ({
    name: name ?? nameOfEntry(raw),
    entry: raw,
    lost,
    notes: notesOn(raw),
  }));
}

function notesOn(entry: JsonObject): readonly string[] {
  return placeholdersIn(entry).map(({ key, text }) => `${key} looks like a placeholder: ${text}`);
}

/** The hints of these functions name commands, which the page does not have. */
function withHint<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const { code, message, server, detail } = asPlugboardError(thrown);
    throw new PlugboardError(code, message, { server, detail, hint: HINT });
  }
}
