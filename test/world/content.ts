/** Content blocks that tests send and compare. */

import type { Host } from '../../src/host/host.ts';

export const text = (value: string): { type: 'text'; text: string } => ({ type: 'text', text: value });

/** The text of a result's first block; '' if it has none. */
export async function textOf(result: ReturnType<Host['call']>): Promise<string> {
  const [block] = (await result).content;
  return block !== undefined && 'text' in block ? String(block.text) : '';
}
