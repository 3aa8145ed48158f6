/** Lists and reads resources for users and programs (CAT-9). */

import type { Connection } from '../connection/connection.ts';
import type { RequestOptions } from '../connection/peer.ts';
import { timeoutHint } from '../connection/reasons.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { shellWord } from '../lib/shell-word.ts';
import { oneLine, visibleUri } from '../policy/clean.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { type JsonObject, unknownMembers } from './accept-bounds.ts';
import type { Resource, ResourceTemplate } from './accept-lists.ts';
import { acceptResourceContents, type ResourceContents } from './accept-result.ts';
import { cleanContents, cleanDescribed } from './clean-block.ts';
import { metaOf, offersNone, refusalOf } from './content-response.ts';

/** Limit on parts of one resource; real folders have far fewer. */
const MAX_PARTS = 10_000;

/** A resource as `resources --json` prints it. */
export interface ListedResource extends Resource {
  readonly server: string;
}

/** A resource template: a pattern for addresses. */
export interface ListedTemplate extends ResourceTemplate {
  readonly server: string;
}

/** The resources and templates of the listed servers. */
export interface ResourceListing {
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
}

/** The result of `resources/read`, as `read --json` prints it. */
export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  /** `_meta` of the server's result. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Unknown members of the result. */
  readonly extra?: JsonObject;
}

const KNOWN_OF_READ: ReadonlySet<string> = new Set([
  'contents',
  '_meta',
  'resultType',
  // These describe the server's answer to us; our own answer has its own values.
  'ttlMs',
  'cacheScope',
]);

/** Cleans a resource except its address, which must match the server's. */
export function presentResource(server: string, resource: Resource): ListedResource {
  return { ...cleanDescribed(resource), name: oneLine(resource.name), server };
}

export function presentTemplate(server: string, template: ResourceTemplate): ListedTemplate {
  return { ...cleanDescribed(template), name: oneLine(template.name), server };
}

export interface ReadResourceOptions {
  readonly request: RequestOptions;
  /** True if a model reads it: text is cleaned. */
  readonly forModel: boolean;
  readonly warn: (message: string) => void;
  /** Called when hidden text was removed. @param place the location of that text. */
  readonly hidden: (place: string) => void;
}

export async function readResource(
  connection: Connection,
  uri: string,
  { request, forModel, warn, hidden }: ReadResourceOptions,
): Promise<ReadResult> {
  if (uri === '') throw new PlugboardError('INVALID_ARGUMENTS', 'The address of a resource cannot be empty');
  const raw = await connection.request('resources/read', { uri }, request).catch((error: unknown) => {
    throw readFailure(connection.name, uri, asPlugboardError(error));
  });
  const answer = isRecord(raw) ? raw : {};
  const parts = answer['contents'];
  if (!Array.isArray(parts)) {
    throw new PlugboardError('PROTOCOL_ERROR', `${connection.name} answered without the contents of ${uri}`, {
      server: connection.name,
    });
  }
  if (parts.length > MAX_PARTS) {
    throw new PlugboardError(
      'LIMIT_EXCEEDED',
      `${uri} has ${parts.length} parts; ${MAX_PARTS} are too many`,
      {
        server: connection.name,
      },
    );
  }
  const contents = parts.flatMap((part: unknown) => {
    // Adds the requested address if the server omitted it.
    const named = isRecord(part) && typeof part['uri'] !== 'string' ? { ...part, uri } : part;
    const accepted = acceptResourceContents(named, (text) => warn(`${uri}: ${text}`));
    if (accepted === undefined) warn(`${uri}: a part with neither text nor blob is left out`);
    if (accepted === undefined || !forModel) return accepted ?? [];
    const cleaned = cleanContents(accepted, uri);
    if (cleaned !== accepted) hidden(`the contents of ${visibleUri(uri)}`);
    return [cleaned];
  });
  const extra = unknownMembers(answer, KNOWN_OF_READ);
  return {
    contents,
    ...(extra === undefined ? {} : { extra: forModel ? cleanRecord(extra) : extra }),
    ...metaOf(raw, forModel),
  };
}

function readFailure(server: string, uri: string, error: PlugboardError): PlugboardError {
  const { code, detail, hint } = error;
  const refusal = refusalOf(error, 'resources/read');
  if (refusal?.unknownMethod) return offersNone(server, 'resources', error);
  if (refusal?.notFound) {
    return new PlugboardError(
      'INVALID_ARGUMENTS',
      `${server} has no resource ${JSON.stringify(uri)}: ${refusal.text}`,
      {
        server,
        hint: {
          commands: `Run plugboard resources ${shellWord(server)} to list them.`,
          library: `host.resources(${JSON.stringify(server)}) lists them.`,
        },
        cause: error,
        detail,
      },
    );
  }
  const message =
    refusal === undefined
      ? error.message.replace(/^resources\/read/, `reading ${uri} from ${server}`)
      : `${server} could not read ${JSON.stringify(uri)}: ${refusal.text}`;
  return new PlugboardError(code, message, {
    server,
    hint: hint ?? timeoutHint(error),
    cause: error,
    detail,
  });
}
