/** The `list` tool: the contents of a folder, several levels deep. */

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { type Tool, tool } from '../kit/definitions.ts';
import { attempt } from '../lib/attempt.ts';
import type { PinnedFolder } from './pinned-folder.ts';
import { answer, readOnly, type Workspace } from './workspace-context.ts';
import { asFileError } from './workspace-errors.ts';

const DEFAULT_DEPTH = 1;
const MAX_DEPTH = 8;
const MAX_ENTRIES = 1_000;
/** Large folders of generated files: listed, but not opened unless requested. */
const CLOSED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface Entry {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'link' | 'other';
  readonly size?: number;
}

export function listTool({ root }: Workspace): Tool {
  return tool({
    name: 'list',
    description:
      `Lists a folder of the project: files with their size, folders, links (which are not followed). ` +
      `At most ${MAX_ENTRIES} entries; .git and node_modules are not looked into unless they are the path.`,
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The folder, relative to the project root (the root itself).' },
        depth: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_DEPTH,
          description: `How many levels deep (${DEFAULT_DEPTH}).`,
        },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        entries: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              path: { type: 'string', description: 'Relative to the project root.' },
              type: { type: 'string', enum: ['file', 'folder', 'link', 'other'] },
              size: { type: 'integer', description: 'Bytes, for files.' },
            },
            required: ['path', 'type'],
          },
        },
        truncated: { type: 'boolean', description: 'Whether there are more.' },
      },
      required: ['entries', 'truncated'],
    },
    annotations: readOnly('List a folder'),

    async run({ path = '.', depth = DEFAULT_DEPTH }, { signal }) {
      const place = root.locate(path);
      const folder = root.enter(place);
      const entries: Entry[] = [];
      const prefix = place.shown === '.' ? '' : `${place.shown}/`;
      let truncated: boolean;
      try {
        truncated = !collect(folder, { prefix, depth, entries, signal });
      } catch (thrown) {
        throw asFileError(thrown, place.shown);
      } finally {
        folder.close();
      }
      return answer(shown(entries, place.shown, truncated), { entries, truncated });
    },
  });
}

interface Collecting {
  readonly prefix: string;
  readonly depth: number;
  readonly entries: Entry[];
  readonly signal: AbortSignal;
}

/** Returns false if the limit was reached. */
function collect(folder: PinnedFolder, { prefix, depth, entries, signal }: Collecting): boolean {
  for (const name of readdirSync(folder.path).sort()) {
    signal.throwIfAborted();
    if (entries.length >= MAX_ENTRIES) return false;
    const stats = lstatSync(folder.at(name), { throwIfNoEntry: false });
    if (stats === undefined) continue; // removed since
    const path = `${prefix}${name}`;
    const type = typeOf(stats);
    entries.push({ path, type, ...(type === 'file' ? { size: stats.size } : {}) });
    if (type !== 'folder' || depth <= 1 || CLOSED_FOLDERS.has(name)) continue;
    // A folder that cannot be read, or was replaced since, is listed but not opened.
    const child = attempt(() => folder.child(name), undefined);
    if (child === undefined) continue;
    try {
      const all = collect(child, { prefix: `${path}/`, depth: depth - 1, entries, signal });
      if (!all) return false;
    } finally {
      child.close();
    }
  }
  return true;
}

function typeOf(stats: Stats): Entry['type'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

function shown(entries: readonly Entry[], folder: string, truncated: boolean): string {
  if (entries.length === 0) return `${folder} is empty.`;
  const lines = entries.map(({ path, type, size }) => {
    if (type === 'folder') return `${path}/`;
    return type === 'file' ? `${path}  ${size} bytes` : `${path}  (${type})`;
  });
  const note = `[Only the first ${MAX_ENTRIES} are shown; list a folder further down, or use glob.]`;
  return [...lines, ...(truncated ? [note] : [])].join('\n');
}
