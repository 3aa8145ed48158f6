/** The smallest host that can be served: tools made of functions. */

import type { CallOptions } from '../../src/call/call.ts';
import type { CallResult } from '../../src/catalog/accept-result.ts';
import { PlugboardError } from '../../src/errors.ts';
import type { ServedHost } from '../../src/serve/index.ts';

type Run = (
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
) => Promise<CallResult> | CallResult;

export interface SmallHost extends ServedHost {
  /** Adds a tool and says so. */
  add(name: string, run: Run): void;
  readonly listeners: number;
}

export function text(value: string): CallResult {
  return { content: [{ type: 'text', text: value }], isError: false };
}

export function smallHost(tools: Record<string, Run>): SmallHost {
  const runs = new Map(Object.entries(tools));
  const listeners = new Set<() => void>();
  return {
    tools: () =>
      [...runs.keys()].map((tool) => ({
        name: `mcp__small__${tool}`,
        server: 'small',
        tool,
        description: `The tool ${tool}.`,
        inputSchema: { type: 'object' },
      })),
    async call(name, args, options = {}) {
      const run = runs.get(name.replace('mcp__small__', ''));
      if (!run) throw new PlugboardError('UNKNOWN_TOOL', `There is no tool ${name}.`);
      return run(args, options);
    },
    on(_event, fn) {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    add(name, run) {
      runs.set(name, run);
      for (const tell of listeners) tell();
    },
    get listeners() {
      return listeners.size;
    },
  };
}
