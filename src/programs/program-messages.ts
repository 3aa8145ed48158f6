/** The messages between a host and the thread that runs one program. Values of the program travel as JSON text. */

/** A compiled WebAssembly module, which has no type in Node's. */
export type Engine = object;

/** Limits that the thread itself enforces. */
export interface VmLimits {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Length of all messages of one turn. */
  readonly messageChars: number;
  readonly outputTokens: number;
  /** Length of all stored values. */
  readonly storedChars: number;
}

/** The settled result of something that the program asked for: JSON text of its value, or of a failure. */
export interface VmAnswer {
  readonly id: number;
  readonly ok: boolean;
  readonly json: string | undefined;
}

export type ToThread =
  | {
      readonly type: 'start';
      readonly module: Engine;
      readonly limits: VmLimits;
      /** The thread freezes the program whenever it has asked for something, before that is done. */
      readonly durable: boolean;
      readonly code: string;
      readonly servers: readonly string[];
      /** JSON texts by key. */
      readonly stored: Readonly<Record<string, string>>;
      /** JSON text of the input of a saved program. */
      readonly input: string | undefined;
    }
  | {
      readonly type: 'restore';
      readonly module: Engine;
      readonly limits: VmLimits;
      readonly durable: boolean;
      readonly frozen: Uint8Array;
      readonly token: number;
      /** Processor time that it used before. */
      readonly usedMs: number;
    }
  | { readonly type: 'settle'; readonly answers: readonly VmAnswer[] }
  | { readonly type: 'freeze' }
  | { readonly type: 'end' };

export type ThreadFailure = 'cpu' | 'memory' | 'flood' | 'syntax' | 'crashed';

export type FromThread =
  /** The program runs from now on. */
  | { readonly type: 'began' }
  | {
      readonly type: 'turn';
      /** JSON texts of `GuestMessage`, written by the program's own sandbox: to be parsed with care. */
      readonly messages: readonly string[];
      readonly usedMs: number;
      readonly frozen: Frozen | undefined;
    }
  | { readonly type: 'frozen'; readonly frozen: Frozen }
  | { readonly type: 'failed'; readonly failure: ThreadFailure; readonly message: string };

/** The compressed memory of a program. */
export interface Frozen {
  readonly bytes: Uint8Array;
  /** Finds the function that settles promises in the memory. */
  readonly token: number;
  readonly usedMs: number;
}
