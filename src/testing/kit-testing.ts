/** The entry point `@plugboard/kit/testing`: the part of `plugboard/testing` that tests of servers need. */

export type { Clock } from '../lib/clock.ts';
export type { MemoryTransport } from '../transport/memory-transport.ts';
export { memoryPair } from '../transport/memory-transport.ts';
export type { Answer, AskOptions, ConnectOptions, Servable, TestClient } from './connect-in-memory.ts';
export { connectInMemory } from './connect-in-memory.ts';
export type { FakeClock } from './fake-clock.ts';
export { fakeClock } from './fake-clock.ts';
export type { Gate } from './gate.ts';
export { createGate } from './gate.ts';
