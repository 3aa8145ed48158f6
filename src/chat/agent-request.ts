/** Schemas of the tools `agent` and `agent_reply`, and validation of their arguments. */

import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { AgentProfile } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';

/** Settings requested when a thread was created; stored with it, and checked against the limits at every turn. */
export interface ThreadSettings extends AgentProfile {
  readonly profile?: string;
  readonly cwd?: string;
  readonly toolSearch?: boolean;
}

export interface AgentRequest {
  readonly prompt: string;
  readonly settings: ThreadSettings;
}

const MAX_STEPS = 1_000;
const MIN_CONTEXT_TOKENS = 1_000;

const text = z.string().trim().min(1);

/** None of these can start a program or extend permissions: `agent-bounds.ts` limits them to the person's settings. */
const config = z.strictObject({
  toolSearch: z.boolean().optional().describe('Find tools by search instead of listing all of them.'),
  maxSteps: z.int().min(1).max(MAX_STEPS).optional().describe('Requests to the model in one turn.'),
  contextTokens: z.int().min(MIN_CONTEXT_TOKENS).optional().describe('How much the model can take.'),
});

const agentArguments = z.strictObject({
  prompt: text.describe('What the agent is to do.'),
  model: text
    .optional()
    .describe(
      'The name of a profile whose model is used; default: the model that the gateway was started with.',
    ),
  profile: text
    .optional()
    .describe("Named settings from the gateway's configuration; other arguments can only be stricter."),
  cwd: text
    .refine(isAbsolute, 'must be an absolute path')
    .optional()
    .describe('Absolute path of a folder inside the project of the gateway; default: that project.'),
  tools: z.array(text).optional().describe('Only these tools may be used, as globs of server__tool.'),
  approval_policy: z
    .enum(['ask', 'never'])
    .optional()
    .describe('ask: calls that need approval are put to the user; never: they are refused.'),
  sandbox: z
    .enum(['inherit', 'read-only'])
    .optional()
    .describe('read-only: local servers cannot write files or use the network.'),
  config: config.optional().describe('Overrides for this thread.'),
  base_instructions: text.optional().describe('Replaces the first instructions of the agent.'),
  developer_instructions: text.optional().describe('Added to the instructions of the agent.'),
  compact_prompt: text.optional().describe('How the agent is asked for a summary when its window fills.'),
});

const replyArguments = z.strictObject({
  thread_id: text.describe('The thread_id that agent answered with.'),
  prompt: text.describe('What to say next.'),
});

type JsonSchema = Readonly<Record<string, unknown>>;

export function agentSchema(): JsonSchema {
  return z.toJSONSchema(agentArguments, { io: 'input' });
}

export function replySchema(): JsonSchema {
  return z.toJSONSchema(replyArguments, { io: 'input' });
}

export function readAgentRequest(args: unknown): AgentRequest {
  const given = parse(agentArguments, args);
  const { prompt, config: overrides = {} } = given;
  // An omitted setting must not override the profile's.
  const settings = defined({
    profile: given.profile,
    cwd: given.cwd,
    model: given.model,
    tools: given.tools,
    approvalPolicy: given.approval_policy,
    sandbox: given.sandbox,
    baseInstructions: given.base_instructions,
    developerInstructions: given.developer_instructions,
    compactPrompt: given.compact_prompt,
    ...overrides,
  });
  return { prompt, settings };
}

export function readReply(args: unknown): { readonly threadId: string; readonly prompt: string } {
  const { thread_id: threadId, prompt } = parse(replyArguments, args);
  return { threadId, prompt };
}

function parse<Schema extends z.ZodType>(schema: Schema, args: unknown): z.output<Schema> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const reasons = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
  );
  throw new PlugboardError('INVALID_ARGUMENTS', reasons.join('; '), {
    hint: 'Correct the arguments to match the inputSchema of the tool.',
  });
}
