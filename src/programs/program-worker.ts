/**
 * The thread of one program: a QuickJS in WebAssembly, whose memory is bounded and can be frozen.
 *
 * A message of the host begins a turn: the program runs until it waits, and everything that it asked for leaves in one
 * message. An endless turn is interrupted here; if that fails, the host terminates the thread.
 */

import { parentPort } from 'node:worker_threads';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type JSValueHandle, QuickJS, type QuickJSOptions } from 'quickjs-wasi';
import { GUEST_CODE } from './guest-code.ts';
import type { Engine, FromThread, Frozen, ThreadFailure, ToThread, VmLimits } from './program-messages.ts';
import { mayHaveTypeArguments, stripTypes } from './strip-types.ts';

const GZIP_LEVEL = 1;
/** Left for the engine, which reports a full memory to the program before the WebAssembly memory ends. */
const RESERVED_BYTES: number = 2 * 1024 * 1024;
const NANOSECONDS_PER_MS = 1_000_000n;
/** Stack of the program inside the WebAssembly memory. */
const STACK_BYTES: number = 256 * 1024;
/** A program that is one function is called. */
const ONE_FUNCTION = /^(?:async\s+)?(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|[\w$]+\s*=>)/;
/** The engine's own name of an error of a full memory. */
const FULL = /out of memory/;

class Machine {
  readonly #vm: QuickJS;
  readonly #meter: Meter;
  readonly #settle: JSValueHandle;
  readonly #token: number;
  readonly #durable: boolean;
  readonly #messages: string[];

  constructor(vm: QuickJS, meter: Meter, settle: JSValueHandle, durable: boolean, messages: string[]) {
    this.#vm = vm;
    this.#meter = meter;
    this.#settle = settle;
    this.#token = vm.exportHandle(settle);
    this.#durable = durable;
    this.#messages = messages;
  }

  static async start(given: Extract<ToThread, { type: 'start' }>): Promise<Machine> {
    const { limits, code, servers, stored, input, durable } = given;
    const meter = new Meter(limits.cpuMs, 0);
    const vm = await QuickJS.create(optionsFor(given.module, limits, meter));
    const messages: string[] = [];
    const posting = vm.newFunction('post', poster(vm, messages, limits, meter));
    const { messageChars, outputTokens, storedChars } = limits;
    const setup = vm.hostToHandle({ messageChars, outputTokens, storedChars, servers, stored, input });
    const guest = vm.evalCode(GUEST_CODE, 'plugboard');
    const made = vm.callFunction(guest, vm.undefined, posting, setup);
    const [settle, begin] = [made.getProp('0'), made.getProp('1')];
    const machine = new Machine(vm, meter, settle, durable, messages);
    const main = await meter.during(() => compiled(vm, code));
    await machine.#turn(() => vm.callFunction(begin, vm.undefined, main).dispose());
    return machine;
  }

  static async restore(given: Extract<ToThread, { type: 'restore' }>): Promise<Machine> {
    const { limits, frozen, token, usedMs, durable } = given;
    const meter = new Meter(limits.cpuMs, usedMs);
    const snapshot = QuickJS.deserializeSnapshot(gunzipSync(frozen));
    const vm = await QuickJS.restore(snapshot, optionsFor(given.module, limits, meter));
    const messages: string[] = [];
    vm.registerHostCallback('post', poster(vm, messages, limits, meter));
    return new Machine(vm, meter, vm.importHandle(token), durable, messages);
  }

  settle(answers: Extract<ToThread, { type: 'settle' }>['answers']): Promise<void> {
    return this.#turn(() => {
      const vm = this.#vm;
      for (const { id, ok, json } of answers) {
        vm.withScope(() => {
          const text = json === undefined ? vm.undefined : vm.newString(json);
          vm.callFunction(this.#settle, vm.undefined, vm.newNumber(id), ok ? vm.true : vm.false, text);
        });
      }
    });
  }

  freeze(): Frozen {
    this.#vm.runGC();
    // A copy: small buffers share their memory with others, and this one leaves the thread.
    const bytes = new Uint8Array(
      gzipSync(QuickJS.serializeSnapshot(this.#vm.snapshot()), { level: GZIP_LEVEL }),
    );
    return { bytes, token: this.#token, usedMs: this.#meter.usedMs };
  }

  dispose(): void {
    this.#vm.dispose();
  }

  async #turn(act: () => void): Promise<void> {
    send({ type: 'began' });
    await this.#meter.during(async () => {
      act();
      this.#vm.executePendingJobs();
    });
    const messages = this.#messages.splice(0);
    const isAsking = this.#durable && messages.some((text) => text.includes('"id":'));
    send({
      type: 'turn',
      messages,
      usedMs: this.#meter.usedMs,
      frozen: isAsking ? this.freeze() : undefined,
    });
  }
}

/** Measures the time that a program computes, and stops it when that is used up. */
class Meter {
  readonly #maxMs: number;
  #usedMs: number;
  #since: number | undefined;
  /** Why the program was stopped. */
  stopped: ThreadFailure | undefined;

  constructor(maxMs: number, usedMs: number) {
    this.#maxMs = maxMs;
    this.#usedMs = usedMs;
  }

  get usedMs(): number {
    return this.#usedMs + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  isOver(): boolean {
    if (this.stopped === undefined && this.usedMs > this.#maxMs) this.stopped = 'cpu';
    return this.stopped !== undefined;
  }

  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#since = performance.now();
    try {
      const value = await act();
      if (this.isOver()) throw new Stopped(this.stopped ?? 'cpu', '');
      return value;
    } catch (thrown) {
      if (thrown instanceof Stopped) throw thrown;
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      const failure = this.stopped ?? (FULL.test(message) ? 'memory' : undefined);
      throw failure === undefined ? thrown : new Stopped(failure, message);
    } finally {
      this.#usedMs = this.usedMs;
      this.#since = undefined;
    }
  }
}

class Stopped extends Error {
  readonly failure: ThreadFailure;

  constructor(failure: ThreadFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

function optionsFor(engine: Engine, { memoryBytes }: VmLimits, meter: Meter): QuickJSOptions {
  return {
    wasm: engine as NonNullable<QuickJSOptions['wasm']>, // compiled by the host
    memoryLimit: memoryBytes - RESERVED_BYTES,
    maxStackSize: STACK_BYTES,
    interruptHandler: () => meter.isOver(),
    timezoneOffset: 0,
    // Whole milliseconds: a finer clock would measure the machine.
    wasi: (memory) => ({
      clock_time_get(_clock: number, _precision: bigint, result: number) {
        const now = BigInt(Math.trunc(Date.now())) * NANOSECONDS_PER_MS;
        new DataView(memory.buffer).setBigUint64(result, now, true);
        return 0;
      },
    }),
  };
}

type Poster = (given: JSValueHandle | undefined) => JSValueHandle;

/** Collects what the program sends in a turn; more than the limit ends it. */
function poster(vm: QuickJS, messages: string[], { messageChars }: VmLimits, meter: Meter): Poster {
  let chars = 0;
  return (given: JSValueHandle | undefined): JSValueHandle => {
    if (messages.length === 0) chars = 0;
    const text = given?.toString() ?? '';
    chars += text.length;
    if (chars > messageChars) {
      meter.stopped ??= 'flood';
      return vm.undefined;
    }
    messages.push(text);
    return vm.undefined;
  };
}

/** Returns the program as a function. Types are removed if it is not valid JavaScript. */
async function compiled(vm: QuickJS, code: string): Promise<JSValueHandle> {
  const trimmed = code.trim().replace(/;$/, '');
  if (ONE_FUNCTION.test(trimmed)) {
    try {
      return await evaluated(vm, `return (${trimmed}\n)();`);
    } catch (thrown) {
      // It only begins with a function.
      if (!(thrown instanceof Stopped)) throw thrown;
    }
  }
  return evaluated(vm, code);
}

async function evaluated(vm: QuickJS, body: string): Promise<JSValueHandle> {
  // On one line, so that lines of errors are those of the program.
  const whole = `(async () => {${body}\n})`;
  if (!mayHaveTypeArguments(whole)) {
    try {
      return vm.evalCode(whole, 'program');
    } catch (thrown) {
      if (!isSyntaxError(thrown)) throw thrown;
    }
  }
  try {
    return vm.evalCode(await stripTypes(whole), 'program');
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (FULL.test(message)) throw thrown;
    throw new Stopped('syntax', message);
  }
}

function isSyntaxError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'SyntaxError';
}

function send(message: FromThread): void {
  const frozen = 'frozen' in message ? message.frozen : undefined;
  parentPort?.postMessage(message, frozen === undefined ? [] : [frozen.bytes.buffer as ArrayBuffer]);
}

let machine: Machine | undefined;

async function handle(message: ToThread): Promise<void> {
  switch (message.type) {
    case 'start':
      machine = await Machine.start(message);
      return;
    case 'restore':
      machine = await Machine.restore(message);
      return;
    case 'settle':
      return machine?.settle(message.answers);
    case 'freeze':
      if (machine !== undefined) send({ type: 'frozen', frozen: machine.freeze() });
      return;
    case 'end':
      machine?.dispose();
      machine = undefined;
      return;
    default:
      message satisfies never;
  }
}

/** One message after the other: restoring a program takes longer than a turn. */
let handled: Promise<void> = Promise.resolve();

parentPort?.on('message', (message: ToThread) => {
  handled = handled
    .then(() => handle(message))
    .catch((thrown: unknown) => {
      machine = undefined;
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      const failure = thrown instanceof Stopped ? thrown.failure : 'crashed';
      send({ type: 'failed', failure, message: text });
    });
});
