/** The two eras of the protocol: their versions, the modern envelope, and verdicts about servers. */

import { isRecord } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';

/** Of a server's own name and version. */
const MAX_INFO_CHARS = 200;

export type Era = 'modern' | 'legacy';

export const MODERN_VERSION = '2026-07-28';

/** Newest first; the first is what `initialize` offers. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** The server does not speak the version that the request named; its data lists those it does. */
export const RPC_UNSUPPORTED_VERSION = -32022;
/** A mirrored header disagreed with the body: our idea of the tool's schema is out of date. */
export const RPC_HEADER_MISMATCH = -32020;

export interface Implementation {
  readonly name: string;
  readonly version: string;
  /** For people. */
  readonly title?: string;
}

/** What was agreed with a server. */
export interface Negotiated {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo?: Implementation;
  readonly instructions?: string;
}

/** The era that a server spoke when it was last started. What it says of itself is read at each start. */
export interface Verdict {
  readonly era: Era;
}

/** What travels in `_meta` of every modern message. */
export function envelope(
  version: string,
  client: Implementation,
  capabilities: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    [META.protocolVersion]: version,
    [META.clientInfo]: client,
    [META.clientCapabilities]: modernCapabilities(capabilities),
  };
}

/** The modern era has no message for changed roots. */
export function modernCapabilities(
  capabilities: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return capabilities['roots'] === undefined ? capabilities : { ...capabilities, roots: {} };
}

export function asImplementation(value: unknown): Implementation | undefined {
  if (!isRecord(value) || typeof value['name'] !== 'string') return undefined;
  const line = (text: string): string => clean(text, { multiline: false, max: MAX_INFO_CHARS });
  const { name, version, title } = value;
  return {
    name: line(name),
    version: typeof version === 'string' ? line(version) : '',
    ...(typeof title === 'string' ? { title: line(title) } : {}),
  };
}
