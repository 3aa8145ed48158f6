/** An agent as a tool (SRV-4): `agent` starts a thread with the model the user chose, `agent_reply` continues it. */

import { AGENT, AGENT_REPLY } from '../catalog/deferral.ts';
import type { OwnCall, OwnTool } from '../serve/gateway-own-tools.ts';
import { Agent } from './agent.ts';
import { AgentBounds, type AgentBoundsOptions } from './agent-bounds.ts';
import type { AgentEvent, Turn } from './agent-events.ts';
import { agentSchema, readAgentRequest, readReply, replySchema } from './agent-request.ts';
import { openModel } from './chat-model.ts';
import { type Thread, Threads, type ThreadsOptions } from './threads.ts';

export interface AgentToolsOptions extends Omit<ThreadsOptions, 'bounds'>, AgentBoundsOptions {
  readonly env: NodeJS.ProcessEnv;
}

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    thread_id: { type: 'string', description: 'Pass it to agent_reply to continue.' },
    text: { type: 'string', description: 'The last message of the agent.' },
    finish: { type: 'string', enum: ['stop', 'length', 'refused', 'steps'] },
    calls: { type: 'integer', description: 'How many tools it called.' },
    usage: {
      type: 'object',
      properties: { inputTokens: { type: 'integer' }, outputTokens: { type: 'integer' } },
      required: ['inputTokens', 'outputTokens'],
    },
  },
  required: ['thread_id', 'text', 'finish', 'calls', 'usage'],
};

/** The agent runs any tool that its thread may use. */
const ANNOTATIONS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

export interface AgentTools {
  readonly tools: readonly OwnTool[];
  close(): Promise<void>;
}

export function createAgentTools(options: AgentToolsOptions): AgentTools {
  const bounds = new AgentBounds(options);
  const threads = new Threads({ ...options, bounds });
  const run = async (thread: Thread, prompt: string, call: OwnCall): Promise<Record<string, unknown>> => {
    const { conversation } = thread;
    const settings = await bounds.apply(thread.settings);
    const model = await openModel(settings.model, options.env);
    const turn = await threads.use(thread, settings, call.questions, (host) =>
      new Agent({ ...settings, host, model, conversation }).send(prompt, {
        signal: call.signal,
        emit: emitter(conversation.id, call),
      }),
    );
    return answer(conversation.id, turn);
  };
  const tools: readonly OwnTool[] = [
    {
      definition: {
        name: AGENT,
        title: 'Agent',
        description:
          'Gives a task to another agent, which works on it with the tools of this gateway and its own model, and returns when it is done.',
        inputSchema: agentSchema(),
        outputSchema: OUTPUT_SCHEMA,
        annotations: ANNOTATIONS,
      },
      async call(call) {
        const { prompt, settings } = readAgentRequest(call.arguments);
        return run(threads.begin(settings, call.principal), prompt, call);
      },
    },
    {
      definition: {
        name: AGENT_REPLY,
        title: 'Reply to an agent',
        description:
          'Says something more to an agent that was given a task before, and answers when it is done.',
        inputSchema: replySchema(),
        outputSchema: OUTPUT_SCHEMA,
        annotations: ANNOTATIONS,
      },
      async call(call) {
        const { threadId, prompt } = readReply(call.arguments);
        return run(await threads.resume(threadId, call.principal), prompt, call);
      },
    },
  ];
  return { tools, close: () => threads.close() };
}

/** Reports the agent's events as log messages and, if the client requested it, as progress. */
function emitter(threadId: string, call: OwnCall): (event: AgentEvent) => void {
  let progress = 0;
  return (event) => {
    call.log({ thread_id: threadId, ...event });
    if (event.type !== 'call' && event.type !== 'result') return;
    progress++;
    call.onProgress?.({
      progress,
      message: event.type === 'call' ? `calling ${event.name}` : `${event.name} ended`,
    });
  };
}

function answer(threadId: string, { text, finish, calls, usage }: Turn): Record<string, unknown> {
  const structuredContent = { thread_id: threadId, text, finish, calls, usage };
  return { content: [{ type: 'text', text }], structuredContent, isError: false };
}
