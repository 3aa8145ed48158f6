/** What all tools of one workspace stand on, and the forms they have in common. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import type { ToolResult } from '../kit/content.ts';
import type { Context } from '../kit/context.ts';
import type { Clock } from '../lib/clock.ts';
import type { Children } from './children.ts';
import type { Programs } from './programs.ts';
import type { Root } from './root.ts';

export interface Workspace {
  readonly root: Root;
  /** Every process that a tool starts. */
  readonly children: Children;
  readonly programs: Programs;
  readonly clock: Clock;
  /** Whether programs of the project may run: the shell, and git's hooks. */
  readonly shell: boolean;
}

/** What a tool needs of one call. */
export type Call = Pick<Context, 'signal' | 'progress'>;

/** Text for the model, and the same as data for programs. */
export function answer(text: string, data: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: data };
}

/** Of tools that only look at files of the project. All hints are given: what is left out counts as dangerous. */
export function readOnly(title: string): ToolAnnotations {
  return { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
}
