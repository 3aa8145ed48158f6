/** What an agent tells while it works on one turn, and what a turn comes to. */

import type { Answer } from '../adapters/answer.ts';
import type { Progress } from '../connection/peer.ts';

export type AgentEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: unknown }
  | { readonly type: 'progress'; readonly id: string; readonly name: string; readonly progress: Progress }
  | {
      readonly type: 'result';
      readonly id: string;
      readonly name: string;
      readonly answer: Answer;
      readonly ms: number;
    }
  /** A call that has to be approved was refused because no one can be asked; `advice` is for the person only. */
  | { readonly type: 'refused'; readonly name: string; readonly reason: string; readonly advice: string }
  /** What was said so far has been replaced by a summary. */
  | { readonly type: 'compacted'; readonly before: number }
  /** A mention or command that leads nowhere; it stays in the text. */
  | { readonly type: 'unknown'; readonly what: string };

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Turn {
  /** What the model said last. */
  readonly text: string;
  /** `steps`: it was still calling tools when the limit of steps was reached. */
  readonly finish: 'stop' | 'length' | 'refused' | 'steps';
  readonly usage: Usage;
  /** Tokens that definitions would have cost in all requests of this turn without tool search. */
  readonly saved: number;
  readonly calls: number;
}
