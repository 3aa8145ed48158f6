/** `plugboard add-json`: adds servers from JSON, as found in a configuration file or a README. */

import { recognise, translatePlain } from '../../config/import/any-file.ts';
import { readDocumentOf } from '../../config/import/find.ts';
import { jsonOf, parseJsonc } from '../../config/jsonc.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord, type JsonObject } from '../../lib/json.ts';
import { oneLine } from '../../policy/clean.ts';
import { parseJsonArgument } from '../argument-values.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { foreignPlaces } from '../lookup-places.ts';
import { readStdin } from '../read-stdin.ts';
import { type NewServer, saveServer, saveServers } from '../save-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

const STDIN = '-';

export const addJson: CliCommand = {
  configure(command): void {
    command
      .usage('[name] <json> [flags]\n       plugboard add-json [name] - < file')
      .argument('[name]', 'name for the server; optional if the JSON has one')
      .argument('[json]', 'one entry, or {"mcpServers": {…}} with one or more; - reads stdin')
      .addOption(
        scopeOption('scope: local (only you, only this project; default), project (.mcp.json), user'),
      )
      .option('--allow-secret', 'allow a plain-text secret in the shared .mcp.json')
      .option('-f, --force', 'replace an existing entry with this name')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { name, json } = apart(args);
    const text = json === STDIN ? await readStdin(process.stdin) : json;
    const servers = named(pastedServers(context, text), name);
    const { output } = context;
    for (const note of servers.flatMap(({ lost }) => lost)) {
      output.remark(oneLine(note));
    }
    const all = servers.map(
      (server): NewServer => ({
        name: server.name,
        raw: server.raw,
        scope: scopeFlag(flags) ?? 'local',
        replace: flags['force'] === true,
        allowSecret: flags['allowSecret'] === true,
      }),
    );
    const [only, ...more] = all;
    return only !== undefined && more.length === 0 ? saveServer(context, only) : saveServers(context, all);
  },
};

const EXAMPLES = `
Comments and trailing commas are accepted, and so are the formats of VS Code ("servers"), OpenCode ("mcp") and Zed
("context_servers").

Examples:
  plugboard add-json docs '{"type":"http","url":"https://example.com/mcp"}'
  plugboard add-json '{"mcpServers":{"docs":{"url":"https://example.com/mcp"}}}'
  plugboard add-json - < snippet.json`;

/** A single argument is the JSON; with two, the first is the name. */
function apart(args: readonly string[]): { readonly name: string | undefined; readonly json: string } {
  const [first, second] = args;
  if (second !== undefined) return { name: first, json: second };
  if (first !== undefined && (first === STDIN || /^\s*[{["`]/.test(first)))
    return { name: undefined, json: first };
  throw new PlugboardError('USAGE', 'Missing argument <json>', {
    hint: `Write plugboard add-json ${first ?? '<name>'} '{"command":"npx","args":["-y","some-server"]}', or - to read it from stdin.`,
  });
}

interface Named extends Pasted {
  readonly name: string;
}

/** Returns the servers with their final names: for a single server, the name that was typed. */
function named(servers: readonly Pasted[], name: string | undefined): readonly Named[] {
  const [only, ...more] = servers;
  if (only === undefined) {
    throw new PlugboardError('USAGE', 'The JSON has no servers', {
      hint: 'Paste one with a "command" or a "url".',
    });
  }
  if (name !== undefined && more.length > 0) {
    const chosen = servers.find((server) => server.name === name);
    if (chosen !== undefined) return [{ ...chosen, name }];
    const names = servers.map((server) => server.name).join(', ');
    throw new PlugboardError(
      'USAGE',
      `The JSON has several servers, and none is called "${name}": ${names}`,
      {
        hint: 'Leave the name out to add all of them, or name one.',
      },
    );
  }
  if (name !== undefined) return [{ ...only, name }];
  return servers.map((server) => {
    if (server.name !== undefined) return { ...server, name: server.name };
    throw new PlugboardError('USAGE', 'The entry has no name', {
      hint: 'Write the name before the JSON: plugboard add-json <name> <json>.',
    });
  });
}

/** Parses servers from pasted or piped text: one entry, or the servers of a README's snippet in any known format. */
interface Pasted {
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
function pastedServers(context: Context, text: string): readonly Pasted[] {
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
  return parseJsonArgument(plain, { what: 'The entry', hint: HINT });
}

/** Returns the content of a Markdown fence if the text is one, else the text. */
function unfenced(text: string): string {
  return /^\s*```[\w-]*\s*\n(?<inside>[\s\S]*?)\n\s*```\s*$/.exec(text)?.groups?.['inside'] ?? text;
}
