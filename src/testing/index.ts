/** The entry point `plugboard/testing`: tools for testing hosts and servers. */

export type { Clock } from '../lib/clock.ts';
export type {
  JsonRpcFailure,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResult,
  RequestId,
} from '../lib/json-rpc.ts';
export type { Notice, Receiver, SendOptions, Transport } from '../transport/contract.ts';
export type { MemoryTransport } from '../transport/memory-transport.ts';
export { memoryPair } from '../transport/memory-transport.ts';
export type { Answer, AskOptions, ConnectOptions, Servable, TestClient } from './connect-in-memory.ts';
export { connectInMemory } from './connect-in-memory.ts';
export type { Exchange, Handler } from './exchange.ts';
export { NO_ANSWER } from './exchange.ts';
export type { FakeClock } from './fake-clock.ts';
export { fakeClock } from './fake-clock.ts';
export type { Gate } from './gate.ts';
export { createGate } from './gate.ts';
export type { ScriptedServer, ScriptedServerOptions } from './scripted-server.ts';
export { scriptedServer } from './scripted-server.ts';
export type { ScriptedTool, ScriptedTools, ToolHandler } from './scripted-tool.ts';
export { RpcError } from './scripted-tool.ts';
export { createTestHost } from './test-host.ts';
