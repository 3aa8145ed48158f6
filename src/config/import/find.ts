/** What other agents on this machine are configured with, in our words. Reads; writes nothing, starts nothing. */

import { isRecord } from '../../lib/json-rpc.ts';
import { type Document, parseDocument, readDocument } from '../document.ts';
import type { Problem } from '../entry.ts';
import type { Agent, ForeignFile, ForeignScope, Where } from './agent.ts';
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
  for (const agent of agents) {
    for (const file of agent.files(where)) {
      const document = await readForeign(file);
      if (document.text !== '' || document.problems.length > 0)
        parts.push(readFile(agent, file, document, where));
    }
  }
  return {
    files: parts.flatMap(({ files }) => files),
    servers: parts.flatMap(({ servers }) => servers),
    inputs: parts.flatMap(({ inputs }) => inputs),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

async function readForeign({ path, format }: ForeignFile): Promise<Document> {
  if (format === 'json') return readDocument(path, parseDocument);
  const { parseToml } = await import('./toml.ts');
  return readDocument(path, parseToml);
}

function readFile(agent: Agent, file: ForeignFile, document: Document, where: Where): Found {
  const { value, problems } = document;
  const entries = isRecord(value) ? agent.entries(value, file, where) : [];
  const servers = entries.map(
    (entry): FoundServer => ({
      agent,
      file: file.path,
      format: file.format,
      isReadOnly: file.readOnly === true,
      scope: entry.scope,
      name: entry.name,
      path: entry.path,
      ...(isRecord(entry.value) ? agent.translate(entry.value) : NOT_AN_ENTRY),
    }),
  );
  const inputs = isRecord(value) ? (agent.inputs?.(value) ?? []) : [];
  return {
    files: [{ agent, file: file.path, servers: servers.length }],
    servers,
    inputs: inputs.map((input) => ({ file: file.path, scope: file.scope, value: input })),
    problems,
  };
}

const NOT_AN_ENTRY: Translated = { entry: {}, lost: [], refused: 'It is not an object.' };
