/** Reports each run of a handler: to a callback of the author, and to OpenTelemetry. */

import type { Context as TraceContext } from '@opentelemetry/api';
import type { Params } from '../endpoint/client-era.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { importTelemetryApi, metaGetter } from '../lib/opentelemetry.ts';
import type { Context } from './handler-context.ts';

/** One completed run of a handler. */
export interface HandledEvent {
  readonly method: string;
  /** The name of the tool or prompt; the URI of a resource. */
  readonly name: string | undefined;
  /** `failed`: a result with `isError`, or a protocol error. */
  readonly outcome: 'ok' | 'failed' | 'cancelled';
  readonly durationMs: number;
  /** The exception, if it became a protocol error. */
  readonly error?: unknown;
  readonly context: Context;
}

export interface Handled {
  readonly method: string;
  readonly name: string | undefined;
  readonly context: Context;
}

/** Runs a handler, and reports the run. */
export type Tracing = (handled: Handled, run: () => Promise<Params>) => Promise<Params>;

/** Reports to a callback; an exception of it is only a warning, because the run is already over. */
export function tellingTo(
  report: (event: HandledEvent) => void,
  clock: Clock,
  warn: (text: string) => void,
): Tracing {
  return async (handled, run) => {
    const startedAt = ticksOf(clock);
    const end = (failed: boolean, error?: unknown): void => {
      const outcome = handled.context.signal.aborted ? 'cancelled' : failed ? 'failed' : 'ok';
      const durationMs = ticksOf(clock) - startedAt;
      try {
        report({ ...handled, outcome, durationMs, ...(error === undefined ? {} : { error }) });
      } catch (thrown) {
        warn(`onHandled threw: ${String(thrown)}`);
      }
    };
    try {
      const result = await run();
      end(result['isError'] === true);
      return result;
    } catch (error) {
      end(true, error);
      throw error;
    }
  };
}

/** Creates spans by OpenTelemetry's conventions for MCP; the trace of the client's call is continued from `_meta`. */
export async function spans(scope: string): Promise<Tracing> {
  const { trace, context: contexts, propagation, SpanKind, SpanStatusCode } = await importTelemetryApi();
  const tracer = trace.getTracer(scope);
  const parentOf = ({ meta }: Context): TraceContext =>
    propagation.extract(contexts.active(), meta, metaGetter);
  return async ({ method, name, context }, run) => {
    const parent = parentOf(context);
    const attributes = {
      'mcp.method.name': method,
      'mcp.protocol.version': context.client.protocolVersion,
      ...(name === undefined ? {} : nameAttribute(method, name)),
    };
    const title = method === 'tools/call' || method === 'prompts/get' ? `${method} ${name}` : method;
    const span = tracer.startSpan(title, { kind: SpanKind.SERVER, attributes }, parent);
    try {
      // Spans of the handler are children of this one.
      const result = await contexts.with(trace.setSpan(parent, span), run);
      if (result['isError'] === true) {
        span.setAttribute('error.type', 'tool_error');
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      return result;
    } catch (error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: error instanceof Error ? error.message : String(error),
      });
      throw error;
    } finally {
      span.end();
    }
  };
}

function nameAttribute(method: string, name: string): Readonly<Record<string, string>> {
  switch (method) {
    case 'tools/call':
      return { 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' };
    case 'prompts/get':
      return { 'gen_ai.prompt.name': name };
    default:
      return { 'mcp.resource.uri': name };
  }
}

/** Combines two; the outer one includes the time of the inner one. */
export function both(outer: Tracing, inner: Tracing): Tracing {
  return (handled, run) => outer(handled, () => inner(handled, run));
}
