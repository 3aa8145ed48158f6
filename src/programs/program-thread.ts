/** The threads that programs run in: started before they are needed, reused, and terminated if a program does not stop. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Engine, FromThread, ToThread } from './program-messages.ts';

/** Node's types have no value of this name. */
const { WebAssembly: engines } = globalThis as unknown as {
  readonly WebAssembly: { compile(bytes: Uint8Array): Promise<Engine> };
};
const PAGE_BYTES = 65_536;
/** Heap of the thread outside of the WebAssembly memory. */
const HEAP_MB = 48;
/** Threads that wait for the next program. */
const MAX_SPARE = 1;

export interface ThreadListener {
  received(message: FromThread): void;
  /** The thread ended without being asked to. */
  lost(error: Error | undefined): void;
}

export class ProgramThread {
  readonly #worker: Worker;
  #listener: ThreadListener | undefined;
  #isEnded = false;

  constructor() {
    this.#worker = new Worker(new URL('../programs/program-worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 8 },
      // The sandbox has neither; the thread needs none of them.
      env: {},
      stdin: false,
      execArgv: [],
    });
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#listener?.received(message));
    this.#worker.on('error', (error: Error) => this.#lost(error));
    this.#worker.on('exit', () => this.#lost(undefined));
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The process stays alive while a program uses the thread. */
  use(listener: ThreadListener): void {
    this.#listener = listener;
    this.#worker.ref();
  }

  release(): void {
    this.#listener = undefined;
    this.#worker.unref();
  }

  send(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  async terminate(): Promise<void> {
    this.#isEnded = true;
    this.#listener = undefined;
    await this.#worker.terminate();
  }

  #lost(error: Error | undefined): void {
    this.#isEnded = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.lost(error);
  }
}

export class ProgramThreads {
  readonly #spare: ProgramThread[] = [];
  readonly #modules = new Map<number, Promise<Engine>>();
  #isClosed = false;

  /** Starts a thread for the next program, if none waits. */
  warm(memoryBytes: number): void {
    if (this.#isClosed) return;
    if (this.#spare.length === 0) this.#spare.push(new ProgramThread());
    // Its failure is reported to the program that needs it.
    this.module(memoryBytes).catch(() => {});
  }

  take(): ProgramThread {
    for (let thread = this.#spare.pop(); thread !== undefined; thread = this.#spare.pop())
      if (!thread.isEnded) return thread;
    return new ProgramThread();
  }

  /** Returns a thread whose program has ended. */
  give(thread: ProgramThread): void {
    thread.release();
    if (thread.isEnded) return;
    if (this.#isClosed || this.#spare.length >= MAX_SPARE) void thread.terminate();
    else {
      thread.send({ type: 'end' });
      this.#spare.push(thread);
    }
  }

  /** Returns the compiled engine, whose memory cannot grow beyond the limit. */
  module(memoryBytes: number): Promise<Engine> {
    return getOrMake(this.#modules, memoryBytes, async () => {
      const file = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
      return engines.compile(withMemoryLimit(await readFile(file), Math.floor(memoryBytes / PAGE_BYTES)));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#spare.splice(0).map((thread) => thread.terminate()));
  }
}

const MAGIC_BYTES = 8;
const MEMORY_SECTION = 5;
const HAS_MAXIMUM = 1;

/** Writes a maximum into the memory section of a WebAssembly module: the engine's own limit does not cover all of it. */
export function withMemoryLimit(wasm: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  for (let at = MAGIC_BYTES; at < wasm.length; ) {
    const start = at;
    const section = wasm[at];
    const size = readNumber(wasm, at + 1);
    const end = size.next + size.value;
    if (section === MEMORY_SECTION) {
      const count = readNumber(wasm, size.next);
      const minimum = readNumber(wasm, count.next + 1);
      const body = [count.value, HAS_MAXIMUM, ...numberBytes(minimum.value), ...numberBytes(maxPages)];
      const head = [MEMORY_SECTION, ...numberBytes(body.length)];
      const parts = [wasm.subarray(0, start), Buffer.from([...head, ...body]), wasm.subarray(end)];
      return new Uint8Array(Buffer.concat(parts));
    }
    at = end;
  }
  throw new Error('The engine has no memory section');
}

const GROUP_BITS = 7;
const GROUP = 0x7f;
const MORE = 0x80;

/** Reads a number in LEB128. */
function readNumber(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let [value, at] = [0, from];
  for (let shift = 0; ; shift += GROUP_BITS, at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte & GROUP) * 2 ** shift;
    if ((byte & MORE) === 0) return { value, next: at + 1 };
  }
}

function numberBytes(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / MORE)) {
    const isLast = left < MORE;
    bytes.push(isLast ? left : (left % MORE) + MORE);
    if (isLast) return bytes;
  }
}
