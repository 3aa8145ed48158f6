/** Protocol extensions that servers declare: their ids and methods. */

import { isRecord } from '../lib/json.ts';

type Params = Readonly<Record<string, unknown>>;

/** Settings by extension id. */
export interface DeclaredExtensions {
  readonly extensions: Params;
  readonly experimental: Params;
}

/** The MCP Apps extension. */
export const UI_EXTENSION = 'io.modelcontextprotocol/ui';

/** Methods of these families belong to the protocol, never to an extension. */
const OF_THE_PROTOCOL =
  /^(?:initialize|ping|server|tools|resources|prompts|completion|logging|roots|sampling|elicitation|subscriptions|tasks|notifications)(?:\/|$)/;
/** State of one agent: never shared with servers that others may use. */
const PRIVATE = /^codex\/sandbox-state/;

export function extensionsIn({ extensions, experimental }: Params): DeclaredExtensions {
  return { extensions: shareable(extensions), experimental: shareable(experimental) };
}

function shareable(declared: unknown): Params {
  if (!isRecord(declared)) return {};
  return Object.fromEntries(Object.entries(declared).filter(([id]) => !PRIVATE.test(id)));
}

/** Converts the ids to one list, for the cache. */
export function extensionNames({ extensions, experimental }: DeclaredExtensions): readonly string[] {
  return [
    ...Object.keys(extensions).map((id) => `extensions:${id}`),
    ...Object.keys(experimental).map((id) => `experimental:${id}`),
  ];
}

/** Converts the list back, without the settings. */
export function extensionsNamed(names: readonly string[]): DeclaredExtensions {
  const of = (kind: string): Params =>
    Object.fromEntries(
      names.flatMap((name) => (name.startsWith(`${kind}:`) ? [[name.slice(kind.length + 1), {}]] : [])),
    );
  return { extensions: of('extensions'), experimental: of('experimental') };
}

/**
 * True if a method belongs to one of the declared extensions: `skills/list` to `io.modelcontextprotocol/skills`,
 * `com.example/search/run` and `com.example/run` to `com.example/search`.
 */
export function declaresMethod(declared: DeclaredExtensions, method: string): boolean {
  if (OF_THE_PROTOCOL.test(method) || PRIVATE.test(method)) return false;
  return [...Object.keys(declared.extensions), ...Object.keys(declared.experimental)].some((id) => {
    const at = id.lastIndexOf('/');
    const [vendor, name] = [id.slice(0, Math.max(at, 0)), id.slice(at + 1)];
    // All official extensions share the protocol's prefix; a vendor's prefix belongs to the vendor.
    const prefixes = [
      id,
      name,
      ...(vendor.includes('.') && !vendor.startsWith('io.modelcontextprotocol') ? [vendor] : []),
    ];
    return prefixes.some((prefix) => method === prefix || method.startsWith(`${prefix}/`));
  });
}
