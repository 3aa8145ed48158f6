/** A program with typed tools and one version of the AI SDK, for the compiler. Needs a build. */

import { join } from 'node:path';
import { root } from '../../scripts/run.mjs';

const dist = join(root, 'dist');

export const typedTools = (version) => `
import { generateText, type InferToolInput, type InferToolOutput, type LanguageModel } from 'ai-${version}';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toAiSdk } from '${dist}/adapters/index.js';
import type { Host } from '${dist}/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

export async function run(host: Host, model: LanguageModel): Promise<void> {
  const tools = toAiSdk(host, {
    schemas: {
      zod4: { inputSchema: z.object({ n: z.number().default(1) }), outputSchema: z.object({ s: z.string() }) },
      zod3: { inputSchema: z3.object({ n: z3.number() }) },
      json: { inputSchema: { type: 'object', properties: { k: { type: 'string' } }, required: ['k'] } },
      none: {},
    },
    tools: { mine: { description: '', inputSchema: z.object({ x: z.string() }), execute: async () => 1 } },
    needsApproval: true,
  });
  holds<Equal<InferToolInput<typeof tools.zod4>, { n: number }>>();
  holds<Equal<InferToolInput<typeof tools.zod3>, { n: number }>>();
  holds<Equal<InferToolInput<typeof tools.json>, { readonly k: string }>>();
  type Succeeded = Extract<InferToolOutput<typeof tools.zod4>, { isError: false }>;
  holds<Equal<Succeeded['structuredContent'], { s: string }>>();
  const { toolCalls, toolResults } = await generateText({ model, prompt: '', tools });
  for (const call of toolCalls) {
    if (call.dynamic) continue;
    if (call.toolName === 'zod4') holds<Equal<typeof call.input, { n: number }>>();
    if (call.toolName === 'json') holds<Equal<typeof call.input, { readonly k: string }>>();
  }
  for (const result of toolResults) {
    if (result.dynamic || result.toolName !== 'zod4' || result.output.isError) continue;
    holds<Equal<typeof result.output.structuredContent, { s: string }>>();
  }
  // @ts-expect-error it is not in the schemas
  tools.other;
}
`;
