/** Finds the tools that a search has just loaded, for providers with their own way to load tools. */

import { isRecord } from '../lib/json.ts';
import type { Answer } from './answer.ts';

/**
 * Returns the names in the order in which they were found: a search returns one definition per line. Instructions of
 * servers are in blocks after the first, and can contain anything.
 */
export function foundNames({ content, isError }: Answer): string[] {
  if (isError) return [];
  const [first] = content;
  const lines = first?.type === 'text' ? first.text.split('\n') : [];
  return lines.flatMap((line) => {
    const name = line.startsWith('{') ? nameIn(line) : undefined;
    return name === undefined ? [] : [name];
  });
}

function nameIn(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value['name'] === 'string' ? value['name'] : undefined;
  } catch {
    return undefined;
  }
}
