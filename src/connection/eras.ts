/** The two protocol eras: their versions, the modern `_meta` envelope, and the remembered era of a server. */

import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';

/** For a server's name, version and title. */
const MAX_INFO_CHARS = 200;

export type Era = 'modern' | 'legacy';

export const MODERN_VERSION = '2026-07-28';

/** Newest first; `initialize` offers the first one. */
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

export interface Implementation {
  readonly name: string;
  readonly version: string;
  /** Display name. */
  readonly title?: string;
}

/** The result of the negotiation with a server. */
export interface Negotiated {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo?: Implementation;
  readonly instructions?: string;
}

/** The era of a server at its last start. Its capabilities and info are read again at each start. */
export interface RememberedEra {
  readonly era: Era;
}

/** Returns the `_meta` of every modern message. */
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

/** Removes `roots.listChanged`: the modern era has no notification for changed roots. */
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
