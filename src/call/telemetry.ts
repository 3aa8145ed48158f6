/**
 * Spans and metrics of calls, by OpenTelemetry's conventions for MCP (CAL-6).
 *
 * Only the API package is ours; the SDK is brought by whoever wants the data. A host without telemetry
 * loads nothing and pays nothing.
 */

import type { Context, Span, TextMapSetter, Tracer } from '@opentelemetry/api';
import { asPlugboardError } from '../errors.ts';
import { ticksOf } from '../lib/clock.ts';
import { importTelemetryApi, metaGetter } from '../lib/opentelemetry.ts';
import type { Transport } from '../transport/contract.ts';
import type { CallContext, Handler, Stage } from './call.ts';
import { outcomeOf } from './outcome.ts';
import { toolOf } from './settings.ts';

export interface Telemetry {
  readonly tracer: Tracer;
  /** The trace that a call is part of, as `_meta` carries it. */
  readonly inject: (context: Context) => Readonly<Record<string, string>>;
  /** The trace that a client's request is part of, read from its `_meta`; else the active one. */
  readonly parent: (meta: Readonly<Record<string, unknown>> | undefined) => Context;
  readonly withSpan: (parent: Context, span: Span) => Context;
  readonly count: (attributes: Record<string, string>, seconds: number) => void;
  readonly kindClient: number;
  readonly errorStatus: number;
}

const SCOPE = 'plugboard';

export async function loadTelemetry(): Promise<Telemetry> {
  const { trace, metrics, context, propagation, SpanKind, SpanStatusCode } = await importTelemetryApi();
  const meter = metrics.getMeter(SCOPE);
  const calls = meter.createCounter('plugboard.mcp.calls', { description: 'Calls of MCP tools by outcome' });
  const duration = meter.createHistogram('mcp.client.operation.duration', { unit: 's' });
  const setter: TextMapSetter<Record<string, string>> = {
    set: (carrier, key, value) => {
      carrier[key] = value;
    },
  };
  return {
    tracer: trace.getTracer(SCOPE),
    parent: (meta) =>
      meta === undefined ? context.active() : propagation.extract(context.active(), meta, metaGetter),
    withSpan: (parent, span) => trace.setSpan(parent, span),
    inject: (within) => {
      const carrier: Record<string, string> = {};
      propagation.inject(within, carrier, setter);
      return carrier;
    },
    count: (attributes, seconds) => {
      calls.add(1, attributes);
      duration.record(seconds, attributes);
    },
    kindClient: SpanKind.CLIENT,
    errorStatus: SpanStatusCode.ERROR,
  };
}

export const telemetry: Stage = (context, next) => {
  const { telemetry: sink } = context;
  return sink === undefined ? next : traced(context, sink, next);
};

function traced(context: CallContext, sink: Telemetry, next: Handler): Handler {
  return async (call) => {
    const tool = toolOf(call);
    const { connection, method = 'tools/call' } = call;
    // Of a tool for resources, the server knows only the method.
    const name = call.method === undefined ? tool.tool : tool.name;
    const startedAt = ticksOf(context.clock);
    const attributes = {
      'mcp.method.name': method,
      'gen_ai.tool.name': name,
      'gen_ai.operation.name': 'execute_tool',
      'plugboard.server': tool.server,
      ...transportOf(connection?.transportKind),
    };
    // The server's span is a child of ours, and ours of the client's.
    const parent = sink.parent(call.handedOn?.meta);
    const span = sink.tracer.startSpan(
      call.method ?? `${method} ${name}`,
      { kind: sink.kindClient, attributes },
      parent,
    );
    call.traceMeta = sink.inject(sink.withSpan(parent, span));
    const end = (status: string, error?: { code: string; message: string }): void => {
      if (error !== undefined) {
        span.setAttribute('error.type', error.code);
        span.setStatus({ code: sink.errorStatus, message: error.message });
      } else if (status === 'tool_error') {
        span.setAttribute('error.type', 'tool_error');
        span.setStatus({ code: sink.errorStatus });
      }
      const version = connection?.negotiated?.protocolVersion;
      if (version !== undefined) span.setAttribute('mcp.protocol.version', version);
      span.end();
      const seconds = (ticksOf(context.clock) - startedAt) / 1000;
      sink.count({ status, 'plugboard.server': tool.server, 'gen_ai.tool.name': name }, seconds);
    };
    try {
      const result = await next(call);
      end(result.isError ? 'tool_error' : 'ok');
      return result;
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      end(outcomeOf(error), error);
      throw error;
    }
  };
}

function transportOf(kind: Transport['kind'] | undefined): Record<string, string> {
  if (kind === undefined || kind === 'memory') return {};
  return { 'network.transport': kind === 'stdio' ? 'pipe' : 'tcp' };
}
