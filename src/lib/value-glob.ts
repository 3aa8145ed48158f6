/** Converts globs for values of arguments to regular expressions; docs/rules.md has their syntax. */

import { attempt } from './attempt.ts';
import type { PatternFault } from './linear-pattern.ts';

const MAX_BRACE_DEPTH = 8;
const UNCLOSED_SET: PatternFault = {
  fault: 'A "[" has no "]"',
  hint: 'Close it, or write \\[ for the character.',
};

/** Escapes text for a regular expression with the flag `u`. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/**
 * Returns the source of an expression that matches whole values.
 *
 * @param isSegmented - For paths and URLs: `*`, `?` and sets do not match `/`.
 * @example
 * globSource('*-docs', false); // { source: '^(?:.*-docs)$' }
 */
export function globSource(glob: string, isSegmented: boolean): { readonly source: string } | PatternFault {
  const characters = [...glob];
  const one = isSegmented ? '[^/]' : '.';
  let at = 0;

  const part = (depth: number): string | PatternFault => {
    let source = '';
    for (let next = characters[at]; next !== undefined; next = characters[at]) {
      if (depth > 0 && (next === ',' || next === '}')) return source;
      const step = piece(next, depth);
      if (typeof step !== 'string') return step;
      source += step;
    }
    return depth === 0
      ? source
      : { fault: 'A "{" has no "}"', hint: 'Close it, or write \\{ for the character.' };
  };

  const piece = (next: string, depth: number): string | PatternFault => {
    if (isSegmented && characters.slice(at, at + 3).join('') === '/**') {
      const after = characters[at + 3];
      if (after === '/') {
        at += 4;
        return '/(?:.*/)?';
      }
      if (after === undefined || (depth > 0 && (after === ',' || after === '}'))) {
        at += 3;
        return '(?:/.*)?';
      }
    }
    at += 1;
    switch (next) {
      case '*': {
        const isDouble = characters[at] === '*';
        while (characters[at] === '*') at += 1;
        return isDouble ? '.*' : `${one}*`;
      }
      case '?':
        return one;
      case '[':
        return set();
      case '{':
        return depth === MAX_BRACE_DEPTH
          ? { fault: `"{" is nested deeper than ${MAX_BRACE_DEPTH} levels`, hint: 'Write several rules.' }
          : braces(depth + 1);
      case '\\': {
        const literal = characters[at];
        if (literal === undefined)
          return { fault: 'It ends with a backslash', hint: 'Write \\\\ for the character.' };
        at += 1;
        return escapePattern(literal);
      }
      default:
        return escapePattern(next);
    }
  };

  const braces = (depth: number): string | PatternFault => {
    const choices: string[] = [];
    do {
      if (choices.length > 0) at += 1;
      const choice = part(depth);
      if (typeof choice !== 'string') return choice;
      choices.push(choice);
    } while (characters[at] === ',');
    at += 1;
    return `(?:${choices.join('|')})`;
  };

  const set = (): string | PatternFault => {
    const isNegated = characters[at] === '!' || characters[at] === '^';
    if (isNegated) at += 1;
    let members = '';
    let isFirst = true;
    for (let next = characters[at]; next !== ']' || isFirst; next = characters[at]) {
      if (next === undefined) return UNCLOSED_SET;
      const isEscaped = next === '\\';
      const literal = isEscaped ? characters[at + 1] : next;
      if (literal === undefined) return UNCLOSED_SET;
      at += isEscaped ? 2 : 1;
      members += literal === '-' && !isEscaped ? '-' : `\\u{${literal.codePointAt(0)?.toString(16)}}`;
      isFirst = false;
    }
    at += 1;
    if (isNegated) return `[^${members}${isSegmented ? '/' : ''}]`;
    if (isSegmented && attempt(() => new RegExp(`[${members}]`, 'u').test('/'), false))
      return { fault: 'A set in a path or URL must not contain "/"', hint: 'Write "/" outside of the set.' };
    return `[${members}]`;
  };

  const source = part(0);
  return typeof source === 'string' ? { source: `^(?:${source})$` } : source;
}
