/** A host turned around: its catalog and its calls as one MCP server, for clients of both eras. */

import type { CallToolResult, ListToolsResult, ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode, SERVER_INFO_META_KEY, Server } from '@modelcontextprotocol/server';
import type { CallResult } from '../catalog/accept-result.ts';
import type { Tool } from '../catalog/tool.ts';
import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { ServedHost } from './served-host.ts';

export interface GatewayIdentity {
  readonly name: string;
  readonly version: string;
}

/** One instance per connection, over HTTP per request: the host behind it is what lasts. */
export function createGatewayServer(host: ServedHost, identity: GatewayIdentity): Server {
  const instructions = host.instructions?.() ?? '';
  const server = new Server(identity, {
    capabilities: { tools: { listChanged: true } },
    ...(instructions === '' ? {} : { instructions }),
  });
  server.setRequestHandler('tools/list', () => listTools(host));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(host, params.name, params.arguments ?? {}, context),
  );
  return server;
}

function listTools(host: ServedHost): ListToolsResult {
  // The catalog has made every schema an object with a type; the SDK's type only says so more strictly.
  return { tools: host.tools().map(listed) } as ListToolsResult;
}

function listed({
  server: _server,
  tool: _tool,
  deferred: _deferred,
  ...definition
}: Tool): Omit<Tool, 'server' | 'tool'> {
  return definition;
}

async function callTool(
  host: ServedHost,
  name: string,
  args: Record<string, unknown>,
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  try {
    const result = await host.call(name, args, {
      signal: mcpReq.signal,
      onProgress(progress) {
        if (progressToken === undefined) return;
        // A client that has gone away loses its progress and nothing else.
        void mcpReq
          .notify({ method: 'notifications/progress', params: { progressToken, ...progress } })
          .catch(() => undefined);
      },
    });
    return passedOn(result);
  } catch (thrown) {
    return refused(asPlugboardError(thrown));
  }
}

/**
 * Content is handed on as it came: what an upstream server may say, a client of ours may read. Only who
 * answered is left out, because here it is the gateway.
 */
function passedOn({ _meta, ...result }: CallResult): CallToolResult {
  const { [SERVER_INFO_META_KEY]: _, ...meta } = _meta ?? {};
  // The SDK's type is a union of known content blocks; the catalog has accepted these already.
  return { ...result, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) } as CallToolResult;
}

/** A tool nobody has is the client's mistake; everything else is told to the model, which can act on it. */
function refused(error: PlugboardError): CallToolResult {
  if (error.code === 'UNKNOWN_TOOL') throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  const text = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { 'plugboard/code': error.code } };
}
