/** A whole host before a server that goes mad in the middle of a session: the next call is answered as if nothing was. */

import type { ToolHandler } from '../../../src/testing/index.ts';
import { smallHost } from '../../serve/small-host.ts';
import { type Edge, mustBeOurs } from '../edge.ts';

/** Stands for the id of a call that is under way. */
const ID = '4242424242';

const LINES = [
  `{"jsonrpc":"2.0","id":${ID},"result":{"content":[{"type":"text","text":"hello"}],"structuredContent":{"a":[1]}}}`,
  `{"jsonrpc":"2.0","id":${ID},"error":{"code":-32042,"message":"first this","data":{"elicitations":[{"mode":"url","url":"https://example.com/","elicitationId":"e","message":"m"}]}}}`,
  `{"jsonrpc":"2.0","id":${ID},"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}},"requestState":"s"}}`,
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${ID},"progress":1,"total":2,"message":"m"}}`,
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"l","data":"words"}}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}',
  '{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"N"}},"required":["n"]}}}',
  '{"jsonrpc":"2.0","id":"e2","method":"elicitation/create","params":{"mode":"url","message":"go","url":"https://example.com/","elicitationId":"x"}}',
  '{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}',
  '{"jsonrpc":"2.0","id":"r1","method":"roots/list"}',
  `{"jsonrpc":"2.0","id":${ID},"result":{"task":{"taskId":"t1","status":"working","ttl":1000,"pollInterval":1}}}`,
  '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed"}}',
];

export const server: Edge = {
  name: 'server',
  runs: 100,
  async open() {
    const worlds = await Promise.all((['legacy', 'modern'] as const).map((eras) => world(eras)));
    return {
      corpus: [...LINES, LINES.join('\n')].map((text) => Buffer.from(text)),
      async check(input) {
        for (const each of worlds) await each.check(input);
      },
      close: async () => void (await Promise.all(worlds.map((each) => each.close()))),
    };
  },
};

async function world(eras: 'legacy' | 'modern'): Promise<{
  check(input: Buffer): Promise<void>;
  close(): Promise<void>;
}> {
  let underWay: (id: string | number) => void = () => {};
  const wait: ToolHandler = (_, { id, signal }) => {
    underWay(id);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('gone')));
  };
  const {
    host,
    server: scripted,
    close,
  } = await smallHost(
    {
      eras,
      capabilities: { tools: { listChanged: true }, resources: {}, logging: {} },
      tools: { echo: ({ message }) => String(message), wait },
    },
    {
      toolSearch: false,
      approve: () => 'allow',
      elicit: () => ({ action: 'accept', content: { n: 'x' } }),
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'ok' }, model: 'm' }),
    },
  );
  let calls = 0;
  return {
    async check(input) {
      const began = new Promise<string | number>((resolve) => {
        underWay = resolve;
      });
      const stop = new AbortController();
      const call = host
        .call('mcp__small__wait', {}, { signal: stop.signal, onProgress: () => {} })
        .then((result) => void JSON.stringify(result), mustBeOurs);
      const id = JSON.stringify(await began);
      for (const line of input.toString('utf8').replaceAll(ID, id).split('\n')) scripted.line(line);
      const message = `m${calls++}`;
      const { content } = await host.call('mcp__small__echo', { message });
      const [block] = content;
      if (block?.type !== 'text' || block.text !== message) {
        throw new Error(`${message} was answered with ${JSON.stringify(content)}`);
      }
      stop.abort();
      await call;
    },
    close,
  };
}
