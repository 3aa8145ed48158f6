/** Exposes results that were too long for a model as resources: a remote client cannot read their files. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';

const PREFIX = 'plugboard://output/';
/** The oldest are dropped first; the host keeps their files for longer. */
const MAX_OFFERED = 1_000;

interface Offered {
  readonly file: string;
  readonly owner: string;
}

export class Outputs {
  readonly #offered = new Map<string, Offered>();

  /** Returns an unguessable link that works for the same owner only. */
  offer(file: string, owner: string): ContentBlock {
    const uri = `${PREFIX}${randomUUID()}`;
    this.#offered.set(uri, { file, owner });
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > MAX_OFFERED && oldest !== undefined) this.#offered.delete(oldest);
    return {
      type: 'resource_link',
      uri,
      name: basename(file),
      description: 'The whole result: read this resource.',
      mimeType: mimeTypeOf(file),
    };
  }

  isOne(uri: string): boolean {
    return uri.startsWith(PREFIX);
  }

  /** Returns undefined if there is no such output, or it belongs to another owner. */
  async read(uri: string, owner: string): Promise<ResourceContents | undefined> {
    const offered = this.#offered.get(uri);
    if (offered?.owner !== owner) return undefined;
    const text = await readFile(offered.file, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : { uri, mimeType: mimeTypeOf(offered.file), text };
  }
}

function mimeTypeOf(file: string): string {
  return extname(file) === '.json' ? 'application/json' : 'text/plain';
}
