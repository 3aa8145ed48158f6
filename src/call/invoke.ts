/** Sends the call to its server, within its clocks, and reads the answer so that nothing in it can surprise. */

import { acceptCallResult } from '../catalog/accept-result.ts';
import { paramHeaders } from '../catalog/param-headers.ts';
import { limitsFor } from '../config/limits.ts';
import { RPC_HEADER_MISMATCH } from '../connection/eras.ts';
import { sandboxMeta } from '../connection/sandbox-state.ts';
import { PlugboardError } from '../errors.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { settingsOf } from './settings.ts';

export const invoke: Stage = (context) => async (call) => {
  const { tool, connection } = settingsOf(call);
  let raw: unknown;
  try {
    raw = await send(context, call);
  } catch (error) {
    // The server's idea of this tool is newer than ours: read the list again, and say it once more.
    if (!(error instanceof PlugboardError) || error.detail.rpcCode !== RPC_HEADER_MISMATCH)
      throw named(error, call);
    await connection.reread();
    raw = await send(context, call).catch((second: unknown) => {
      throw named(second, call);
    });
  }
  const { result, warnings } = acceptCallResult(raw);
  for (const warning of warnings) context.log(tool.server, 'warning', `${tool.tool}: ${warning}`);
  return result;
};

function send(context: CallContext, call: Call): Promise<unknown> {
  const { tool: called, connection, entry } = settingsOf(call);
  // After a list was read again the name stands for a newer definition.
  const tool = context.snapshot().find(called.name) ?? called;
  const limits = limitsFor(entry, context.settings());
  const { negotiated } = connection;
  const sandbox = negotiated === undefined ? undefined : sandboxMeta(negotiated, context.sandboxState());
  const meta =
    sandbox === undefined && call.traceMeta === undefined ? undefined : { ...sandbox, ...call.traceMeta };
  const mirrored = negotiated?.era === 'modern' && connection.transportKind === 'http';
  return connection.request(
    'tools/call',
    { name: tool.tool, arguments: call.arguments, ...(meta === undefined ? {} : { _meta: meta }) },
    {
      signal: call.signal,
      idleMs: call.timeoutMs ?? limits.toolTimeoutMs,
      totalMs: limits.maxTotalMs,
      headers: mirrored ? paramHeaders(tool, call.arguments) : undefined,
      onProgress: (progress) => {
        context.events.emit('call.progress', { id: call.id, ...progress });
        call.onProgress?.(progress);
      },
    },
  );
}

/** A timeout and a lost connection say which tool they hit: "tools/call" helps nobody. */
function named(error: unknown, call: Call): unknown {
  if (!(error instanceof PlugboardError)) return error;
  const { tool } = settingsOf(call);
  const message = error.message.replace(/^tools\/call/, `${tool.tool} on ${tool.server}`);
  return new PlugboardError(error.code, message, {
    server: tool.server,
    hint:
      error.hint ??
      (error.code === 'TIMEOUT'
        ? 'Raise toolTimeoutMs for servers that work long without progress.'
        : undefined),
    cause: error.cause,
    detail: error.detail,
  });
}
