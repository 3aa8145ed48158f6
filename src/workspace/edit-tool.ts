/** The `edit` tool: replaces one exact occurrence of a text, or all of them. */

import { type Tool, tool } from '../kit/definitions.ts';
import { binaryFile, decode, isBinary, MAX_WHOLE_BYTES, readWhole } from './file-text.ts';
import { replaceFile, withFile } from './open-file.ts';
import { unifiedDiff } from './unified-diff.ts';
import type { Workspace } from './workspace-context.ts';
import { badPath, notWritable } from './workspace-errors.ts';
import { isGitInternal, otherNames } from './write-tool.ts';

const MAX_LISTED_LINES = 10;
/** More replacements than this are a task for a program, not for an edit. */
const MAX_REPLACEMENTS = 10_000;

export function editTool({ root }: Workspace): Tool {
  return tool({
    name: 'edit',
    description:
      'Replaces a piece of text in a file of the project. old_text must be there exactly, white space included, ' +
      'and once, unless replace_all is set. Answers with the change as a diff.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file, relative to the project root.' },
        old_text: {
          type: 'string',
          minLength: 1,
          description: 'The text to replace, with enough around it to be unique.',
        },
        new_text: { type: 'string', description: 'The text to put in its place.' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence (false).' },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
    annotations: {
      title: 'Edit a file',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },

    async run(input) {
      const { path } = input;
      const place = root.locate(path);
      if (isGitInternal(root.lexical(path)) || isGitInternal(place.shown)) throw notWritable(place.shown);
      return withFile(root, place, (file) => {
        const bytes = readWhole(file);
        if (bytes === undefined) throw badPath(`${place.shown} is larger than ${MAX_WHOLE_BYTES} bytes`);
        const text = isBinary(bytes) ? undefined : decode(bytes);
        if (text === undefined) throw binaryFile(place.shown, file.stats.size);
        const { from, to } = inLineEndsOf(text, input);
        if (from === to) throw badPath('old_text and new_text are the same', 'Nothing would change.');
        const found = occurrences(text, from);
        const wanted = input.replace_all === true ? found : found.slice(0, 1);
        if (found.length === 0) throw notFound(place.shown, text, from);
        if (found.length > wanted.length) throw ambiguous(place.shown, text, found);
        if (text.length + wanted.length * (to.length - from.length) > MAX_WHOLE_BYTES) {
          throw badPath(`${place.shown} would become larger than ${MAX_WHOLE_BYTES} bytes`);
        }
        const changed = replaced(text, wanted, from.length, to);
        replaceFile(root, place, changed, file.stats);
        const times = wanted.length === 1 ? '' : `, ${wanted.length} times`;
        const diff = unifiedDiff(place.shown, text, { at: wanted, length: from.length, to });
        return `Edited ${place.shown}${times}.${otherNames(file.stats.nlink)}\n${diff}`;
      });
    },
  });
}

/** Adapts line endings: models write LF; a file with CRLF matches too, and keeps its line endings. */
function inLineEndsOf(
  text: string,
  { old_text: from, new_text: to }: { old_text: string; new_text: string },
): { from: string; to: string } {
  if (text.includes(from) || !text.includes('\r\n')) return { from, to };
  const dos = (lines: string): string => lines.replaceAll(/\r?\n/g, '\r\n');
  return text.includes(dos(from)) ? { from: dos(from), to: dos(to) } : { from, to };
}

function occurrences(text: string, piece: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
    if (found.length === MAX_REPLACEMENTS) {
      throw badPath(`old_text occurs more than ${MAX_REPLACEMENTS} times`, 'Give a longer text.');
    }
    found.push(at);
  }
  return found;
}

function replaced(text: string, at: readonly number[], length: number, to: string): string {
  let [out, from] = ['', 0];
  for (const start of at) {
    out += text.slice(from, start) + to;
    from = start + length;
  }
  return out + text.slice(from);
}

function notFound(shown: string, text: string, from: string): Error {
  const near = nearMiss(text, from);
  return badPath(
    `old_text does not occur in ${shown}`,
    near === undefined
      ? 'Read the file and copy the text exactly.'
      : `Lines ${near.first} to ${near.last} differ from it in white space only.`,
  );
}

function ambiguous(shown: string, text: string, found: readonly number[]): Error {
  const lines = found.slice(0, MAX_LISTED_LINES).map((at) => text.slice(0, at).split('\n').length);
  const more = found.length > lines.length ? ` and ${found.length - lines.length} more` : '';
  return badPath(
    `old_text occurs ${found.length} times in ${shown}: at lines ${lines.join(', ')}${more}`,
    'Give more of the text around the place that is meant, or set replace_all.',
  );
}

/** Limit on line comparisons: a hint is not worth a longer wait. */
const MAX_COMPARISONS = 1_000_000;

/** Finds where a text would match if white space were ignored: the most likely reason for a failed match. */
function nearMiss(
  text: string,
  piece: string,
): { readonly first: number; readonly last: number } | undefined {
  const lines = text.split('\n').map(squeezed);
  const wanted = piece.split('\n').map(squeezed);
  if (wanted.every((line) => line === '') || lines.length * wanted.length > MAX_COMPARISONS) return undefined;
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, offset) => line === lines[at + offset]))
      return { first: at + 1, last: at + wanted.length };
  }
  return undefined;
}

function squeezed(line: string): string {
  return line.trim().replaceAll(/\s+/g, ' ');
}
