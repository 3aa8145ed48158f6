/** Which tools a search has just loaded, for providers that have a way of their own to say so. */

import { isRecord } from '../lib/json-rpc.ts';
import type { Answer } from './answer.ts';

/**
 * Names in the order in which they were found: a search answers with one definition a line. Instructions of servers are in
 * blocks after the first, and can look like anything.
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
