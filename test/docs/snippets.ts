/** Every fenced block of every page, with what the comment before it says about checking it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** Pages that people read. The history of changes has no snippets and speaks of the past. */
export const PAGES: readonly string[] = [
  ...readdirSync(ROOT),
  ...readdirSync(join(ROOT, 'docs')).map((file) => `docs/${file}`),
  'bench/README.md',
  'examples/README.md',
  'tools/search/README.md',
].filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md');

export interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What a reader does not see and the snippet needs: lines for the shell, run before it. */
  readonly before?: string;
  /** Why it is not run. */
  readonly notRun?: string;
  /** The command whose JSON has the shape that is shown. */
  readonly printedBy?: string;
  /** The block of text right after a program: what it prints. */
  readonly prints?: string;
  /** The file that the first line names: `// server.mjs`. */
  readonly file?: string;
}

/** A comment that is for the check, then perhaps others, then the block. */
const BLOCK = /((?:^<!-- check: [\s\S]*?-->\n\n?)*)^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;
const NAMED = /^(?:\/\/|#) ([\w./-]+\.\w+)$/;

export function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const found = [...text.matchAll(BLOCK)].map((match): Snippet & { readonly end: number } => {
    const [whole, comments = '', indent = '', language = '', body = ''] = match;
    const content = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const [, file] = NAMED.exec(content.split('\n')[0] ?? '') ?? [];
    return {
      page,
      line: text.slice(0, match.index + comments.length).split('\n').length,
      language,
      text: content,
      ...instructions(comments),
      ...(file === undefined ? {} : { file }),
      end: match.index + whole.length,
    };
  });
  return found.flatMap(({ end, ...snippet }, at) => {
    const next = found[at + 1];
    const isProgram = snippet.language === 'js' || snippet.language === 'ts';
    const follows = next?.language === 'text' && text.slice(end).startsWith('\n\n```text\n');
    return [isProgram && follows ? { ...snippet, prints: next.text } : snippet];
  });
}

function instructions(comments: string): Pick<Snippet, 'before' | 'notRun' | 'printedBy'> {
  const [, before] = /<!-- check: before\n([\s\S]*?)-->/.exec(comments) ?? [];
  const [, notRun] = /<!-- check: not run, ([\s\S]*?) -->/.exec(comments) ?? [];
  const [, printedBy] = /<!-- check: printed by `(.*?)` -->/.exec(comments) ?? [];
  return {
    ...(before === undefined ? {} : { before }),
    ...(notRun === undefined ? {} : { notRun: notRun.replaceAll(/\s+/g, ' ') }),
    ...(printedBy === undefined ? {} : { printedBy }),
  };
}

/** One command of a console with what it prints. */
export interface Typed {
  readonly command: string;
  readonly shown: string;
}

/** `$ ` begins a command, `> ` goes on with it, everything else was printed. */
export function typedIn(console: string): Typed[] {
  return console
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...rest] = part.split(/\n(?!> )/);
      return { command: command.replaceAll('\n> ', '\n'), shown: rest.join('\n').trimEnd() };
    });
}
