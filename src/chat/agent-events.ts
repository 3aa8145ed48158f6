/** Events that an agent emits during a turn, and the result of a turn. */

import type { AdapterHost } from '../adapters/adapter-host.ts';
import type { Answer } from '../adapters/answer.ts';
import type { Progress } from '../connection/peer.ts';
import type { Host } from '../host/host.ts';

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
  /** A call that needs approval was rejected because no one can be asked; `advice` is for the person only. */
  | { readonly type: 'refused'; readonly name: string; readonly reason: string; readonly advice: string }
  /** The messages so far were replaced by a summary. */
  | { readonly type: 'compacted'; readonly before: number }
  /** A mention or command without a target; it stays in the text. */
  | { readonly type: 'unknown'; readonly what: string };

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Turn {
  /** The model's last text. */
  readonly text: string;
  /** `steps`: the limit of steps was reached while the model was still calling tools. */
  readonly finish: 'stop' | 'length' | 'refused' | 'steps';
  readonly usage: Usage;
  /** Tokens saved by tool search: definitions that would have been sent in all requests of this turn without it. */
  readonly saved: number;
  readonly calls: number;
}

/** The part of a host that an agent needs: tools for its model, and expansion of prompts. A `Host` implements it. */
export interface AgentHost extends AdapterHost, Pick<Host, 'expand' | 'instructions' | 'definitionTokens'> {}
