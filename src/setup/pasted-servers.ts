/** Parses servers from pasted or piped text: one entry, or the servers of a README's snippet in any known format. */

import { recognise, translatePlain } from '../config/import/any-file.ts';
import { readDocumentOf } from '../config/import/find.ts';
import { jsonOf, parseJsonc } from '../config/jsonc.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { parseJsonArgument } from '../lib/json-argument.ts';
import { foreignPlaces, type SetupContext } from './setup-context.ts';

/** One server of a pasted text. */
export interface Pasted {
  /** Undefined for a single entry without a name. */
  readonly name: string | undefined;
  readonly raw: JsonObject;
  /** Settings that cannot be imported, as sentences. */
  readonly lost: readonly string[];
}

const HINT = `For example plugboard add-json docs '{"type":"http","url":"https://example.com/mcp"}'`;
/** Keys of an entry in any format: an object with one of them is an entry, not a map of servers. */
const ENTRY_SIGNS = ['command', 'url', 'httpUrl', 'serverUrl', 'type'];

/**
 * Parses the servers in a text: JSON with comments and trailing commas, also inside a Markdown fence, also without the
 * outer braces.
 *
 * @throws PlugboardError USAGE for a text that is not JSON or has no servers
 */
export function pastedServers(context: SetupContext, text: string): readonly Pasted[] {
  const value = parsed(text);
  if (!isRecord(value)) {
    throw new PlugboardError('USAGE', 'The entry must be a JSON object', { hint: HINT });
  }
  if (ENTRY_SIGNS.some((key) => typeof value[key] === 'string' || Array.isArray(value[key]))) {
    return [{ name: undefined, raw: translatePlain(value).entry, lost: [] }];
  }
  const file = { path: '', format: 'json', scope: 'user' } as const;
  const recognised = recognise(value, file) ?? recognise(asServers(value), file);
  if (recognised === undefined) return [{ name: undefined, raw: value, lost: [] }];
  const whole = recognise(value, file) === undefined ? asServers(value) : value;
  const document = { file: '', text, value: whole, problems: [] };
  const { servers } = readDocumentOf(recognised.agent, file, document, foreignPlaces(context, context.cwd));
  return servers.map(({ name, entry, lost, refused }) => {
    if (refused !== undefined) {
      throw new PlugboardError('CONFIG_INVALID', `Server "${name}" cannot be added: ${refused}`, {
        server: name,
      });
    }
    return {
      name,
      raw: entry,
      lost: lost.map(({ key, reason }) => `without "${key}" of ${name}: ${reason}`),
    };
  });
}

/** Recognises `{ "files": { "command": … } }`, the contents of `mcpServers`. */
function asServers(value: JsonObject): unknown {
  const entries = Object.values(value);
  const isMap =
    entries.length > 0 &&
    entries.every((entry) => isRecord(entry) && ENTRY_SIGNS.some((key) => Object.hasOwn(entry, key)));
  return isMap ? { mcpServers: value } : undefined;
}

function parsed(text: string): unknown {
  const plain = unfenced(text);
  const { tree, fault } = parseJsonc(plain);
  if (fault === undefined && tree !== undefined) return jsonOf(tree);
  // Part of a file: `"files": { … }`, possibly followed by a comma.
  if (/^\s*"/.test(plain)) {
    const { tree: wrapped } = parseJsonc(`{${plain.trim().replace(/,$/, '')}}`);
    if (wrapped !== undefined) return jsonOf(wrapped);
  }
  // In one line the character says more.
  if (fault?.line === undefined || !plain.trim().includes('\n'))
    return parseJsonArgument(plain, { what: 'The entry', hint: HINT });
  const { line, column } = fault;
  throw new PlugboardError('USAGE', `The entry is not valid JSON, at line ${line}`, {
    hint: HINT,
    detail: { place: { line, ...(column === undefined ? {} : { column }) } },
  });
}

/** Returns the content of a Markdown fence if the text is one, else the text. */
function unfenced(text: string): string {
  return /^\s*```[\w-]*\s*\n(?<inside>[\s\S]*?)\n\s*```\s*$/.exec(text)?.groups?.['inside'] ?? text;
}
