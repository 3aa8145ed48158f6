/** Shows the end of a resumed conversation. */

import type { ModelMessage } from 'ai';
import { clean } from '../../policy/clean.ts';
import type { Output } from '../output.ts';

const MAX_LINES = 20;

/** Returns the last message of each side, shortened. */
export function lastExchange(messages: readonly ModelMessage[], { paint }: Pick<Output, 'paint'>): string {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = textOf(messages[at]);
  const answered = textOf(messages.findLast(({ role }, index) => role === 'assistant' && index > at));
  return [
    paint.faint(`Resumed after ${messages.length} ${messages.length === 1 ? 'message' : 'messages'}.`),
    ...(asked === '' ? [] : [`${paint.strong('›')} ${shortened(asked)}`]),
    ...(answered === '' ? [] : [shortened(answered)]),
  ].join('\n');
}

function textOf(message: ModelMessage | undefined): string {
  const { content } = message ?? { content: '' };
  if (typeof content === 'string') return content.trim();
  return content
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}

function shortened(text: string): string {
  const lines = clean(text).split('\n');
  if (lines.length <= MAX_LINES) return lines.join('\n');
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`].join('\n');
}
