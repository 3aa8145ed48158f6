/**
 * Finds the servers of other agents on this machine and translates them to our format. Read-only: writes and starts
 * nothing.
 */

import { isRecord } from '../../lib/json.ts';
import { type Document, parseDocument, readDocument } from '../document.ts';
import type { Problem } from '../entry.ts';
import type {
  Agent,
  Around,
  ForeignEntry,
  ForeignFile,
  ForeignScope,
  ForeignSettings,
  Where,
} from './foreign-agent.ts';
import type { Translated } from './translation.ts';

/** One server of another agent. */
export interface FoundServer extends Translated {
  readonly agent: Agent;
  readonly file: string;
  readonly format: ForeignFile['format'];
  /** The file is read only, see {@link ForeignFile}. */
  readonly isReadOnly: boolean;
  readonly scope: ForeignScope;
  readonly name: string;
  /** Its path in the file. */
  readonly path: readonly string[];
  /** The file that disables it, if that is not its entry. */
  readonly off?: string;
}

/** One question for a secret, as in the file; validated when it is stored. */
export interface FoundInput {
  readonly file: string;
  readonly scope: ForeignScope;
  readonly value: unknown;
}

/** One existing file. */
export interface FoundFile {
  readonly agent: Agent;
  readonly file: string;
  readonly servers: number;
}

export interface Found {
  readonly files: readonly FoundFile[];
  readonly servers: readonly FoundServer[];
  readonly inputs: readonly FoundInput[];
  readonly problems: readonly Problem[];
}

/** Never rejects because of a file's content: an invalid file is a problem, and the others are used. */
export async function findForeign(agents: readonly Agent[], where: Where): Promise<Found> {
  const parts: Found[] = [];
  for (const agent of agents) parts.push(...(await readAgent(agent, agent.files(where), where)));
  return {
    files: parts.flatMap(({ files }) => files),
    servers: parts.flatMap(({ servers }) => servers),
    inputs: parts.flatMap(({ inputs }) => inputs),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

async function readAgent(agent: Agent, files: readonly ForeignFile[], where: Where): Promise<Found[]> {
  const read: { file: ForeignFile; document: Document }[] = [];
  for (const file of files) {
    const document = await readForeign(file);
    if (document.text !== '' || document.problems.length > 0) read.push({ file, document });
  }
  const settings = read.map(({ file, document }) => ({ file, value: document.value }));
  for (const file of read.length === 0 ? [] : (agent.switchFiles?.(where) ?? [])) {
    settings.push({ file, value: (await readForeign(file)).value });
  }
  const known = settings.flatMap(({ file, value }) => (isRecord(value) ? [{ file, value }] : []));
  return read.map(({ file, document }) => readFile(agent, { file, document }, known, where));
}

/** Reads the servers of one document, for an agent that was detected by its content. */
export function readDocumentOf(agent: Agent, file: ForeignFile, document: Document, where: Where): Found {
  const known = isRecord(document.value) ? [{ file, value: document.value }] : [];
  return readFile(agent, { file, document }, known, where);
}

async function readForeign({ path, format }: ForeignFile): Promise<Document> {
  if (format === 'json') return readDocument(path, parseDocument);
  const { parseToml } = await import('./toml.ts');
  return readDocument(path, parseToml);
}

function readFile(
  agent: Agent,
  { file, document }: { readonly file: ForeignFile; readonly document: Document },
  settings: readonly ForeignSettings[],
  where: Where,
): Found {
  const { value, problems } = document;
  const entries = isRecord(value) ? agent.entries(value, file, where) : [];
  const servers = entries.map((found): FoundServer => {
    const { off = switchedOffElsewhere(agent, found, settings, where), defaults } =
      agent.around?.(found, settings, where) ?? {};
    const translated = isRecord(found.value) ? agent.translate(found.value) : NOT_AN_ENTRY;
    return {
      agent,
      file: file.path,
      format: file.format,
      isReadOnly: file.readOnly === true,
      scope: found.scope,
      name: found.name,
      path: found.path,
      ...translated,
      entry: { ...translated.entry, ...open(translated.entry, defaults), ...(off === undefined ? {} : OFF) },
      ...(off === undefined ? {} : { off }),
    };
  });
  const inputs = isRecord(value) ? (agent.inputs?.(value) ?? []) : [];
  return {
    files: [{ agent, file: file.path, servers: servers.length }],
    servers,
    inputs: inputs.map((input) => ({ file: file.path, scope: file.scope, value: input })),
    problems,
  };
}

/** A nearer file may contain only the switch of a server that is configured in another file. */
function switchedOffElsewhere(
  agent: Agent,
  { name, path }: ForeignEntry,
  settings: readonly ForeignSettings[],
  where: Where,
): string | undefined {
  const place = settings.find(({ file, value }) =>
    agent
      .entries(value, file, where)
      .some((other) => other.name === name && other.path.join() === path.join() && isOffSwitch(other.value)),
  );
  return place?.file.path;
}

function isOffSwitch(value: unknown): boolean {
  if (!isRecord(value) || ADDRESSES.some((key) => value[key] !== undefined)) return false;
  return value['enabled'] === false || value['disabled'] === true;
}

/** Keys that name the program or URL. */
const ADDRESSES = ['command', 'url', 'httpUrl', 'serverUrl'];

const OFF = { enabled: false };

/** Returns the defaults for keys that an entry does not set. */
function open(entry: Translated['entry'], defaults: Around['defaults'] = {}): Translated['entry'] {
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => entry[key] === undefined));
}

const NOT_AN_ENTRY: Translated = { entry: {}, lost: [], refused: 'It is not an object.' };
