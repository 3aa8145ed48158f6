/**
 * Spans and metrics of calls, by OpenTelemetry's conventions for MCP (CAL-6).
 *
 * We depend only on the API package; the program installs the SDK. A host without telemetry loads nothing and has no
 * cost.
 */

import type { TextMapSetter } from '@opentelemetry/api';
import { TRANSPORTS, type TransportKind } from '../config/transport-kinds.ts';
import { asPlugboardError } from '../errors.ts';
import { ticksOf } from '../lib/clock.ts';
import { importTelemetryApi, metaGetter } from '../lib/opentelemetry.ts';
import type { CallContext, Handler, Stage } from './call.ts';
import { outcomeOf } from './observe.ts';
import { toolOf } from './resolved-call.ts';

/** Does not use OpenTelemetry's types, which programs without it do not have. */
export interface Telemetry {
  /** Starts the span of a call, as a child of the client's span in `meta` or of the active one. */
  readonly start: (
    title: string,
    attributes: Readonly<Record<string, string>>,
    meta: Readonly<Record<string, unknown>> | undefined,
  ) => CallSpan;
  readonly count: (attributes: Record<string, string>, seconds: number) => void;
}

interface CallSpan {
  /** The trace that the call is part of, in the form of `_meta`. */
  readonly meta: Readonly<Record<string, string>>;
  setAttribute(name: string, value: string): void;
  fail(type: string, message?: string): void;
  end(): void;
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
  const tracer = trace.getTracer(SCOPE);
  return {
    start(title, attributes, meta) {
      const active = context.active();
      const parent = meta === undefined ? active : propagation.extract(active, meta, metaGetter);
      const span = tracer.startSpan(title, { kind: SpanKind.CLIENT, attributes }, parent);
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(parent, span), carrier, setter);
      return {
        meta: carrier,
        setAttribute: (name, value) => void span.setAttribute(name, value),
        fail(type, message) {
          span.setAttribute('error.type', type);
          span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
        },
        end: () => span.end(),
      };
    },
    count: (attributes, seconds) => {
      calls.add(1, attributes);
      duration.record(seconds, attributes);
    },
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
    // For a resource tool, the server only sees the method.
    const name = call.method === undefined ? tool.tool : tool.name;
    const startedAt = ticksOf(context.clock);
    const attributes = {
      'mcp.method.name': method,
      'gen_ai.tool.name': name,
      'gen_ai.operation.name': 'execute_tool',
      'plugboard.server': tool.server,
      ...transportOf(connection?.transportKind),
    };
    // The server's span is a child of this one, which is a child of the client's.
    const span = sink.start(call.method ?? `${method} ${name}`, attributes, call.handedOn?.meta);
    call.traceMeta = span.meta;
    const end = (status: string, error?: { code: string; message: string }): void => {
      if (error !== undefined) span.fail(error.code, error.message);
      else if (status === 'tool_error') span.fail(status);
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

function transportOf(kind: TransportKind | undefined): Record<string, string> {
  const network = kind === undefined ? undefined : TRANSPORTS[kind].network;
  return network === undefined ? {} : { 'network.transport': network };
}
