/** The client's properties that decide how messages are written for it: its revision and capabilities. */

import type { ClientInfo } from '../../endpoint/client-era.ts';
import { isRecord } from '../../lib/json.ts';

/** The first revisions whose clients support these blocks; older ones fail on the whole result. */
const FIRST_AUDIO_VERSION = '2025-03-26';
const FIRST_LINK_VERSION = '2025-06-18';

/** Extensions that are published with the protocol; none of them defines a block type. */
const PUBLISHED_EXTENSION = /^io\.modelcontextprotocol\//;

export interface Reader {
  readonly isModern: boolean;
  readonly knowsAudio: boolean;
  readonly knowsLinks: boolean;
  /** It may support block types that no revision defines. */
  readonly knowsMore: boolean;
  /** It also sends arguments in headers, and must not receive a tool that declares them wrongly. */
  readonly mirrors: boolean;
}

/**
 * Returns the properties of a client.
 *
 * @param overHttp whether its requests have headers, which matters for lists of tools.
 */
export function readerOf({ era, version, capabilities }: ClientInfo, overHttp = false): Reader {
  const { extensions, experimental } = capabilities;
  const isModern = era === 'modern';
  return {
    isModern,
    knowsAudio: version >= FIRST_AUDIO_VERSION,
    knowsLinks: version >= FIRST_LINK_VERSION,
    knowsMore:
      (isRecord(extensions) && Object.keys(extensions).some((key) => !PUBLISHED_EXTENSION.test(key))) ||
      (isRecord(experimental) && Object.keys(experimental).length > 0),
    mirrors: isModern && overHttp,
  };
}
