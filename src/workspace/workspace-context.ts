/** The shared context of all workspace tools, and helpers for their results. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import type { Context } from '../kit/handler-context.ts';
import type { ToolResult } from '../kit/handler-results.ts';
import type { Clock } from '../lib/clock.ts';
import type { Children } from './child-processes.ts';
import type { Root } from './confined-root.ts';
import type { Programs } from './programs.ts';

export interface Workspace {
  readonly root: Root;
  /** Runs every process that a tool starts. */
  readonly children: Children;
  readonly programs: Programs;
  readonly clock: Clock;
  /** Whether programs of the project may run: the shell, and git's hooks. */
  readonly shell: boolean;
}

/** The part of a call's context that tools use. */
export type Call = Pick<Context, 'signal' | 'progress'>;

/** Returns text for the model, and the same as structured data for programs. */
export function answer(text: string, data: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: data };
}

/** Annotations of tools that only read files of the project. All hints are set: a missing one means "dangerous". */
export function readOnly(title: string): ToolAnnotations {
  return { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
}
