import { type Attributes, context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Exchange, NO_ANSWER, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { scriptedHost } from '../world/scripted-host.ts';

const spans = new InMemorySpanExporter();
const readings = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter: readings, exportIntervalMillis: 3_600_000 });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
beforeEach(async () => {
  await reader.forceFlush();
  spans.reset();
  readings.reset();
});
afterAll(async () => {
  await reader.shutdown();
  for (const api of [context, propagation, trace, metrics]) api.disable();
});

const calls: Exchange[] = [];
const server = scriptedServer({
  eras: 'legacy',
  tools: {
    ok: (_args, exchange) => {
      calls.push(exchange);
      return 'fine';
    },
    fails: () => {
      throw new Error('no');
    },
    silent: () => NO_ANSWER,
  },
});

async function counted(): Promise<Record<string, number>> {
  await reader.forceFlush();
  const points = readings
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .filter(({ descriptor }) => descriptor.name === 'plugboard.mcp.calls')
    .flatMap(({ dataPoints }) => dataPoints as readonly { attributes: Attributes; value: unknown }[]);
  const counts: Record<string, number> = {};
  for (const { attributes, value } of points) {
    const status = String(attributes['status']);
    counts[status] = (counts[status] ?? 0) + Number(value);
  }
  return counts;
}

describe('CAL-6: OpenTelemetry', () => {
  // Protocol: 26-base-61
  it('one client span a call, by the conventions for MCP, and its trace in _meta', async () => {
    const world = await scriptedHost({ server, telemetry: true });
    const tracer = trace.getTracer('agent');
    const parent = tracer.startSpan('turn');
    await context.with(trace.setSpan(context.active(), parent), () =>
      world.host.call('mcp__s__ok', { secret: 'x' }),
    );
    parent.end();
    const span = spans.getFinishedSpans().find(({ name }) => name === 'tools/call ok');
    expect(span?.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'ok',
      'gen_ai.operation.name': 'execute_tool',
      'plugboard.server': 's',
      'mcp.protocol.version': '2025-11-25',
    });
    const { traceId, spanId } = span?.spanContext() ?? expect.fail('there is no span');
    expect(traceId).toBe(parent.spanContext().traceId);
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    expect(calls.at(-1)?.params['_meta']).toMatchObject({ traceparent: `00-${traceId}-${spanId}-01` });
    await world.host.close();
  });

  it('outcomes are counted, and errors are marked', async () => {
    const world = await scriptedHost({
      server,
      telemetry: true,
      entry: { toolTimeoutMs: 1_000 },
      approve: ({ arguments: args }) => (args['deny'] === true ? 'deny' : 'allow'),
    });
    await world.host.call('mcp__s__ok');
    await world.host.call('mcp__s__fails');
    await failure(world.host.call('mcp__s__ok', { deny: true }));
    const controller = new AbortController();
    const cancelled = failure(world.host.call('mcp__s__silent', {}, { signal: controller.signal }));
    await world.clock.advance(0);
    controller.abort();
    await cancelled;
    const late = failure(world.host.call('mcp__s__silent'));
    for (let step = 0; step < 30; step += 1) await world.clock.advance(100);
    await late;
    expect(await counted()).toEqual({ ok: 1, tool_error: 1, denied: 1, cancelled: 1, timeout: 1 });
    expect(
      spans.getFinishedSpans().map(({ attributes, status }) => [attributes['error.type'], status.code]),
    ).toEqual([
      [undefined, 0],
      ['tool_error', 2],
      ['DENIED', 2],
      ['CANCELLED', 2],
      ['TIMEOUT', 2],
    ]);
    await world.host.close();
  });

  it('without it nothing is traced and nothing goes into _meta', async () => {
    const world = await scriptedHost({ server });
    await world.host.call('mcp__s__ok');
    expect(spans.getFinishedSpans()).toEqual([]);
    expect(JSON.stringify(calls.at(-1)?.params)).not.toContain('traceparent');
    await world.host.close();
  });
});
