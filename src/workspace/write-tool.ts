/** The `write` tool: creates or replaces a whole file. */

import { type Tool, tool } from '../kit/definitions.ts';
import { replaceFile } from './open-file.ts';
import type { Workspace } from './workspace-context.ts';
import { notWritable } from './workspace-errors.ts';

export function writeTool({ root }: Workspace): Tool {
  return tool({
    name: 'write',
    description:
      'Writes a text file of the project, whole: a new one with the folders it needs, or in place of the old one. ' +
      'To change part of a file, use edit.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file, relative to the project root.' },
        content: { type: 'string', description: 'Everything that will be in the file.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    annotations: {
      title: 'Write a file',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },

    async run({ path, content }) {
      const place = root.locate(path);
      if (isGitInternal(root.lexical(path)) || isGitInternal(place.shown)) throw notWritable(place.shown);
      const { before } = replaceFile(root, place, content);
      const bytes = Buffer.byteLength(content);
      const what = before === undefined ? 'Created' : 'Replaced';
      return `${what} ${place.shown} (${bytes} bytes).${otherNames(before?.nlink)}`;
    },
  });
}

/** Returns a note for a hard-linked file: it now has its own content, and the other names keep the old one. */
export function otherNames(links: number | undefined): string {
  if (links === undefined || links < 2) return '';
  return ` It was a hard link: ${links - 1} other ${links === 2 ? 'name keeps' : 'names keep'} the old content.`;
}

/** Characters that some file systems ignore in names (HFS+), so that `.g\u200cit` opens `.git`. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Detects `.git` in any spelling that a file system accepts, including `.git::$INDEX_ALLOCATION` and the short name.
 */
export function isGitInternal(path: string): boolean {
  return path.split(/[/\\]/).some((part) => {
    const name = part
      .replace(IGNORED, '')
      .replace(/:.*$/s, '')
      .replace(/[. ]+$/, '')
      .toLowerCase();
    return name === '.git' || name === 'git~1';
  });
}
