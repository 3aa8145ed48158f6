/**
 * The table of transports: what the rest of the code needs to know about each of them.
 *
 * A new transport is a row here, its `type` in `entry.ts`, its file in `transport/` and its loader in
 * `transport/create-transport.ts`; keys that only it has are rows of `config-keys.ts`.
 */

import type { RemoteEntry } from './entry.ts';

/** The values of `type` in files: ours, then the spellings of Streamable HTTP in other agents' files. */
export const TYPE_SPELLINGS = ['stdio', 'http', 'sse', 'streamable-http', 'streamableHttp'] as const;
export type TypeSpelling = (typeof TYPE_SPELLINGS)[number];
/** The values of `type` in our entries with a url. */
export type RemoteType = NonNullable<RemoteEntry['type']>;

/** The transports of connections. */
export type TransportKind = 'stdio' | 'http' | 'sse' | 'memory';
/** The name of a transport in reports. */
export type TransportName = 'stdio' | 'http' | 'sse' | 'in-process';

export interface TransportRow {
  readonly name: TransportName;
  /** The key that an entry of this transport has. */
  readonly key: 'command' | 'url' | 'inProcess';
  /** Its values of `type` in entries: ours, then those in other agents' files. Empty: only in code. */
  readonly types: readonly TypeSpelling[];
  /** Requests are independent of each other and of a process: they have no order, and each has its own timeout. */
  readonly isRemote?: true;
  readonly hasProcess?: true;
  /** Modern requests repeat parts of the message in headers. */
  readonly mirrorsHeaders?: true;
  /** Servers of this transport are legacy, so they are not probed. */
  readonly isLegacy?: true;
  /** `network.transport` of OpenTelemetry; undefined: not a network. */
  readonly network: 'pipe' | 'tcp' | undefined;
}

export const TRANSPORTS: Readonly<Record<TransportKind, TransportRow>> = {
  stdio: { name: 'stdio', key: 'command', types: ['stdio'], hasProcess: true, network: 'pipe' },
  /** Streamable HTTP; the default for entries with a url. */
  http: {
    name: 'http',
    key: 'url',
    types: ['http', 'streamable-http', 'streamableHttp'],
    isRemote: true,
    mirrorsHeaders: true,
    network: 'tcp',
  },
  /** HTTP+SSE of 2024-11-05. */
  sse: { name: 'sse', key: 'url', types: ['sse'], isRemote: true, isLegacy: true, network: 'tcp' },
  /** Servers that are part of the program, and pairs of `plugboard/testing`. */
  memory: { name: 'in-process', key: 'inProcess', types: [], network: undefined },
};

// `Object.entries` widens the keys of the table.
const ROWS = Object.entries(TRANSPORTS) as [TransportKind, TransportRow][];

export const TRANSPORT_NAMES: readonly TransportName[] = ROWS.map(([, { name }]) => name);

/** Our values of `type` for entries with this key; all of them without a key. */
export function transportTypes(key?: TransportRow['key']): readonly string[] {
  const rows = key === undefined ? ROWS : ROWS.filter(([, row]) => row.key === key);
  return rows.flatMap(([, { types }]) => types.slice(0, 1));
}

/** Returns our `type` for the one of an entry with a url. */
export function remoteTypeOf(type: TypeSpelling): RemoteType {
  const row = ROWS.find(([, { key, types }]) => key === 'url' && types.includes(type));
  // The first spelling of a row with a url is ours.
  return (row?.[1].types[0] ?? 'http') as RemoteType;
}

/** Returns the transport of an entry; an unknown `type` is the default of its key. */
export function transportKindOf(entry: object): TransportKind {
  const type: unknown = 'type' in entry ? entry.type : undefined;
  const candidates = ROWS.filter(([, { key }]) => key in entry);
  const named = candidates.find(([, { types }]) => types.some((each) => each === type));
  return (named ?? candidates[0])?.[0] ?? 'memory';
}
