/** Reads all of stdin as text, up to a limit. */

import { PlugboardError } from '../errors.ts';

/** Maximum size of stdin in bytes. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;

export async function readStdin(stdin: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > MAX_STDIN_BYTES) {
      throw new PlugboardError('LIMIT_EXCEEDED', 'stdin is larger than 64 MB', {
        hint: 'Send less at once.',
      });
    }
    chunks.push(chunk);
  }
  // The decoder removes a byte order mark, which Windows programs write and JSON does not allow.
  return new TextDecoder().decode(Buffer.concat(chunks));
}
