/** What other agents on this machine are configured with, in our words. Reads; writes nothing, starts nothing. */

import { isRecord } from '../../lib/json-rpc.ts';
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
} from './agent.ts';
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
  /** Its place in the file. */
  readonly path: readonly string[];
  /** Where the agent has it switched off, if that is not in the entry itself. */
  readonly off?: string;
}

/** One question for a secret, as it stands in the file; checked by whoever keeps it. */
export interface FoundInput {
  readonly file: string;
  readonly scope: ForeignScope;
  readonly value: unknown;
}

/** One file that is there. */
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

/** Never rejects for what a file holds: a broken one is a problem, and the others count. */
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

/** Reads the servers of one document, for an agent that was recognised by its content. */
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

/** A nearer file may hold nothing but the switch of a server that is configured in another one. */
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

/** Keys by which entries say what to start or contact. */
const ADDRESSES = ['command', 'url', 'httpUrl', 'serverUrl'];

const OFF = { enabled: false };

/** Those of the defaults that an entry leaves open. */
function open(entry: Translated['entry'], defaults: Around['defaults'] = {}): Translated['entry'] {
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => entry[key] === undefined));
}

const NOT_AN_ENTRY: Translated = { entry: {}, lost: [], refused: 'It is not an object.' };
