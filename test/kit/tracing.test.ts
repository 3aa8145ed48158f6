/** Handlers are traced: a function hears of each, and OpenTelemetry gets its spans. */

import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  defineServer,
  type HandledEvent,
  prompt,
  RpcFailure,
  resource,
  type ServerDefinition,
  tool,
} from '../../src/kit/index.ts';
import { connectInMemory, fakeClock } from '../../src/testing/index.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
});
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  propagation.disable();
  context.disable();
});

const clock = fakeClock();
const content: Partial<ServerDefinition> = {
  tools: [
    tool({
      name: 'slow',
      run: async () => {
        await clock.advance(250);
        trace.getTracer('author').startSpan('inside').end();
        return 'done';
      },
    }),
    tool({ name: 'fails', run: () => Promise.reject(new Error('no')) }),
  ],
  resources: [resource({ uri: 'memo://torn', read: () => Promise.reject(new Error('torn')) })],
  prompts: [prompt({ name: 'hello', get: () => 'hi' })],
};

it('KIT-1: onHandled receives every handler: its name, outcome and duration', async () => {
  const events: HandledEvent[] = [];
  const warnings: string[] = [];
  const server = defineServer({
    name: 'traced',
    ...content,
    clock,
    warn: (warning) => warnings.push(warning),
    onHandled: (event) => {
      events.push(event);
      if (event.name === 'hello') throw new Error('an author’s mistake');
    },
  });
  const client = await connectInMemory(server);
  await client.call('slow');
  await client.call('fails');
  await client.call('unknown').catch(() => {});
  await client.read('memo://torn').catch(() => {});
  await client.prompt('hello');
  await client.close();
  expect(events.map(({ context: _context, ...event }) => event)).toEqual([
    { method: 'tools/call', name: 'slow', outcome: 'ok', durationMs: 250 },
    { method: 'tools/call', name: 'fails', outcome: 'failed', durationMs: 0 },
    {
      method: 'tools/call',
      name: 'unknown',
      outcome: 'failed',
      durationMs: 0,
      error: new RpcFailure(-32602, 'There is no tool "unknown"'),
    },
    {
      method: 'resources/read',
      name: 'memo://torn',
      outcome: 'failed',
      durationMs: 0,
      error: new Error('torn'),
    },
    { method: 'prompts/get', name: 'hello', outcome: 'ok', durationMs: 0 },
  ]);
  expect(warnings).toEqual(['onHandled threw: Error: an author’s mistake']);
});

it('KIT-1: with telemetry every handler is a span, a child of the client’s, and parent of the author’s', async () => {
  exporter.reset();
  const client = await connectInMemory(defineServer({ name: 'traced', ...content, telemetry: true }));
  const _meta = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };
  await client.request('tools/call', { name: 'slow', _meta });
  await client.call('fails');
  await client.read('memo://torn').catch(() => {});
  await client.close();
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name, kind, status, attributes }) => ({ name, kind, status, attributes }))).toEqual([
    { name: 'inside', kind: 0, status: { code: 0 }, attributes: {} },
    {
      name: 'tools/call slow',
      kind: 1,
      status: { code: 0 },
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2026-07-28',
        'gen_ai.tool.name': 'slow',
        'gen_ai.operation.name': 'execute_tool',
      },
    },
    {
      name: 'tools/call fails',
      kind: 1,
      status: { code: 2 },
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2026-07-28',
        'gen_ai.tool.name': 'fails',
        'gen_ai.operation.name': 'execute_tool',
        'error.type': 'tool_error',
      },
    },
    {
      name: 'resources/read',
      kind: 1,
      status: { code: 2, message: 'torn' },
      attributes: {
        'mcp.method.name': 'resources/read',
        'mcp.protocol.version': '2026-07-28',
        'mcp.resource.uri': 'memo://torn',
        'error.type': 'Error',
      },
    },
  ]);
  const [inside, slow] = spans;
  expect(slow?.spanContext().traceId).toBe(TRACE_ID);
  expect(slow?.parentSpanContext?.spanId).toBe(SPAN_ID);
  expect(inside?.parentSpanContext?.spanId).toBe(slow?.spanContext().spanId);
});
