import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createHost, type SampleParams, type SampleResult } from '../../src/index.ts';
import { defineServer, type SampleContent, type SampleMessage, tool } from '../../src/kit/index.ts';

const ADD = { name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } };

/** Lets the model of its client use a tool of the server, and answers with what the model says then. */
const server = defineServer({
  name: 'asker',
  tools: [
    tool({
      name: 'ask',
      run: async (_, { sample }) => {
        const question: SampleMessage = { role: 'user', content: { type: 'text', text: 'What is 1 + 1?' } };
        const asked = { maxTokens: 50, tools: [ADD], toolChoice: { mode: 'auto' } } as const;
        const { content, stopReason } = await sample({ messages: [question], ...asked });
        const blocks: readonly SampleContent[] = Array.isArray(content) ? content : [content];
        const results = blocks.flatMap((block) =>
          block.type === 'tool_use'
            ? [{ type: 'tool_result', toolUseId: block.id, content: [{ type: 'text', text: '2' }] } as const]
            : [],
        );
        const messages: readonly SampleMessage[] = [
          question,
          { role: 'assistant', content },
          { role: 'user', content: results },
        ];
        const said = await sample({ messages, ...asked });
        const text = 'text' in said.content ? said.content.text : '';
        return `${stopReason}: ${text}`;
      },
    }),
  ],
});

it('a model that sample calls uses tools of the server, with a typed request and answer', async () => {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-sampling-'));
  const seen: SampleParams[] = [];
  await using host = await createHost({
    home,
    configuration: false,
    servers: { asker: { inProcess: server, approval: 'approve' } },
    sampling: { tools: true },
    sample: ({ params }): SampleResult => {
      seen.push(params);
      const [offered] = params.tools ?? [];
      const last = params.messages.at(-1);
      if (Array.isArray(last?.content))
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'two' } };
      const use = { type: 'tool_use', id: 'u1', name: offered?.name ?? '', input: { a: 1 } } as const;
      return { role: 'assistant', model: 'm', content: [use], stopReason: 'toolUse' };
    },
  });
  await host.connect('asker');
  const { content } = await host.call('mcp__asker__ask', {});
  expect(content).toEqual([{ type: 'text', text: 'toolUse: two' }]);
  expect(seen.map(({ tools, toolChoice, maxTokens }) => ({ tools, toolChoice, maxTokens }))).toEqual(
    [1, 2].map(() => ({ tools: [ADD], toolChoice: { mode: 'auto' }, maxTokens: 50 })),
  );
  await rm(home, { recursive: true, force: true });
});
