/** The output of a program for a model: texts, images and log lines, within a number of tokens. */

import type { ContentBlock } from '../catalog/accept-result.ts';
import { estimateTokens } from '../catalog/tokens.ts';

export type OutputBlock =
  | { readonly kind: 'text' | 'log'; readonly text: string }
  | { readonly kind: 'image'; readonly data: string; readonly mimeType: string };

/** Estimated tokens of an image. */
const IMAGE_TOKENS = 1_500;

export class ProgramOutput {
  readonly #maxTokens: number;
  readonly #blocks: OutputBlock[] = [];
  #tokens = 0;

  constructor(maxTokens: number, blocks: readonly OutputBlock[] = []) {
    this.#maxTokens = maxTokens;
    for (const block of blocks) this.add(block);
  }

  get blocks(): readonly OutputBlock[] {
    return this.#blocks;
  }

  /** False if the block does not fit; it is not added then. */
  add(block: OutputBlock): boolean {
    const tokens = block.kind === 'image' ? IMAGE_TOKENS : estimateTokens(block.text) + 1;
    if (this.#tokens + tokens > this.#maxTokens) return false;
    this.#tokens += tokens;
    this.#blocks.push(block);
    return true;
  }

  /** The output as content: in its order, with all log lines in one block at the end. */
  content(): ContentBlock[] {
    const content = this.#blocks.flatMap((block): ContentBlock[] => {
      if (block.kind === 'text') return [{ type: 'text', text: block.text }];
      return block.kind === 'image' ? [{ type: 'image', data: block.data, mimeType: block.mimeType }] : [];
    });
    const log = this.#blocks.flatMap((block) => (block.kind === 'log' ? [block.text] : []));
    return log.length === 0 ? content : [...content, { type: 'text', text: `Log:\n${log.join('\n')}` }];
  }
}
