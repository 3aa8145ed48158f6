/** The `read` tool: a text file, or a range of its lines. */

import { read as readCallback } from 'node:fs';
import { promisify } from 'node:util';
import { type Tool, tool } from '../kit/definitions.ts';
import { binaryFile, decode, isBinary } from './file-text.ts';
import { type OpenFile, withFile } from './open-file.ts';
import { readOnly, type Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

const DEFAULT_LINES = 2_000;
const MAX_LINES = 20_000;
const MAX_BYTES = 100_000;
const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

const readChunk = promisify(readCallback);

export function readTool({ root }: Workspace): Tool {
  return tool({
    name: 'read',
    description:
      `Reads a text file of the project. Gives up to ${DEFAULT_LINES} lines and ${MAX_BYTES} bytes at once; ` +
      'a note at the end says how to read on. Binary files are refused.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file, relative to the project root.' },
        offset: { type: 'integer', minimum: 1, description: 'The first line to give, counted from 1 (1).' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LINES,
          description: `How many lines at most (${DEFAULT_LINES}).`,
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    annotations: readOnly('Read a file'),

    async run({ path, offset = 1, limit = DEFAULT_LINES }, { signal }) {
      const place = root.locate(path);
      return withFile(root, place, (file) => readLines(file, { shown: place.shown, offset, limit, signal }));
    },
  });
}

interface Wanted {
  readonly shown: string;
  readonly offset: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Reads the file in chunks, so that the end of a huge one can be read too. */
async function readLines(file: OpenFile, { shown, offset, limit, signal }: Wanted): Promise<string> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const kept: Buffer[] = [];
  const end = offset + limit;
  let [line, keptBytes, position, isCut] = [1, 0, 0, false];
  while (line < end && !isCut) {
    signal.throwIfAborted();
    const { bytesRead } = await readChunk(file.fd, chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0 && isBinary(bytes)) throw binaryFile(shown, file.stats.size);
    let at = 0;
    while (at < bytesRead && line < end && !isCut) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const next = feed === -1 ? bytesRead : feed + 1;
      if (line >= offset) {
        const part = bytes.subarray(at, Math.min(next, at + MAX_BYTES - keptBytes));
        kept.push(Buffer.from(part));
        keptBytes += part.length;
        isCut = part.length < next - at;
      }
      at = next;
      if (feed !== -1 && !isCut) line += 1;
    }
    position += at;
  }
  if (offset > 1 && keptBytes === 0) throw pastEnd(shown, offset);
  const text = decodeAll(Buffer.concat(kept), isCut);
  return `${text}${noteOn({ offset, line, isCut, isEnd: position >= file.stats.size, keptBytes })}`;
}

/** Drops a truncated character; shows bytes that are not UTF-8 as replacement characters, with a note. */
function decodeAll(bytes: Buffer, isCut: boolean): string {
  const exact = isCut ? undefined : decode(bytes);
  if (exact !== undefined) return exact;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isCut });
  return text.includes('\ufffd') ? `${text}\n[Some bytes are not UTF-8 and are shown as \ufffd.]` : text;
}

interface Progress {
  readonly offset: number;
  readonly line: number;
  readonly isCut: boolean;
  readonly isEnd: boolean;
  readonly keptBytes: number;
}

/** Returns a note on how to read the rest; empty if there is none. */
function noteOn({ offset, line, isCut, isEnd, keptBytes }: Progress): string {
  if (isCut && line === offset)
    return `\n[Line ${line} is cut after ${MAX_BYTES} bytes; grep finds parts of long lines.]`;
  if (isCut) return `\n[Cut in line ${line}; read on with offset ${line}.]`;
  if (keptBytes === 0) return '[The file is empty.]';
  return isEnd ? '' : `[Lines ${offset} to ${line - 1}; read on with offset ${line}.]`;
}

function pastEnd(shown: string, offset: number): Error {
  return badPath(`${shown} has fewer than ${offset} lines`, 'Give a smaller offset.');
}
