/** The one error class of Plugboard and the union of its codes. Codes never change; messages may. */

/**
 * Exit status of the command line for each code. The keys are the public union of error codes. What each means, and what to do about it,
 * stands above it: `npm run docs` takes the table in docs/servers-in-trouble.md from here.
 */
export const EXIT_STATUS = {
  /** The command was given something it cannot use. Read the hint, or `--help`. */
  USAGE: 2,
  /** An entry or a variable is not usable. Mend what the message names. */
  CONFIG_INVALID: 2,
  /** A file that has to be changed does not parse or cannot be written. Fix the file; it was not changed. */
  CONFIG_UNWRITABLE: 2,
  /** No server has this name. The hint has the nearest ones. */
  UNKNOWN_SERVER: 2,
  /** No tool has this name, or no longer. The hint has the nearest ones; `plugboard tools`. */
  UNKNOWN_TOOL: 2,
  /** The arguments do not fit the tool's schema; nothing was sent. The message names each field. */
  INVALID_ARGUMENTS: 2,
  /** The process could not be started or ended at once. Run its command by hand; see below. */
  START_FAILED: 3,
  /** The address cannot be reached. Check url, network, proxy. */
  CONNECT_FAILED: 3,
  /** Something answers there, but it does not speak MCP. Check the path of the url. */
  NOT_MCP: 3,
  /** No answer in time. Raise `startupTimeoutMs` or `toolTimeoutMs` if it only needs longer. */
  TIMEOUT: 3,
  /** The server went away during the work. Look at its stderr; it comes back by itself. */
  CONNECTION_LOST: 3,
  /** More than a limit allows: a line over 64 MiB, too many waiting calls. Ask the server for less. */
  LIMIT_EXCEEDED: 3,
  /** The server answered with an error, or with what the protocol does not allow. The message quotes it. */
  PROTOCOL_ERROR: 3,
  /** A server with `required: true` is not there. As for that server's own error. */
  REQUIRED_FAILED: 3,
  /** A login is missing or was refused. `plugboard login <name>`, or mend the token. */
  NEEDS_AUTH: 4,
  /** The authorization server takes no unknown programs. Register an application. */
  NEEDS_CLIENT_REGISTRATION: 4,
  /** A login or a `headersHelper` went wrong. The message says where. */
  AUTH_FAILED: 4,
  /** The credential store that the program gave failed, or did not answer. Try again; the log has what the store said. */
  STORE_FAILED: 3,
  /** A policy, or `enabled: false`. The reason names it. */
  BLOCKED_BY_POLICY: 5,
  /** A project's server that nobody agreed to. `plugboard trust <name>`. */
  UNTRUSTED: 5,
  /** The call has to be approved and no one can be asked. `--yes`, an `approve` callback, or the rule in the log. */
  APPROVAL_REQUIRED: 5,
  /** A person or a `deny` rule said no. */
  DENIED: 5,
  /**
   * The definition is new or has changed since the server was first seen. Look: `plugboard pins`; agree: `plugboard pins
   * <name> --accept`.
   */
  PIN_CHANGED: 5,
  /** A server named an address that must not be contacted. See SECURITY.md. */
  EGRESS_REFUSED: 5,
  /** The output could not be written. Make room on the disk, or write it to another place. */
  OUTPUT_FAILED: 74,
  /** A fault of Plugboard's own. Run it with `--verbose` and report that. */
  INTERNAL: 70,
  /** Somebody cancelled it. */
  CANCELLED: 130,
} as const;

export type ErrorCode = keyof typeof EXIT_STATUS;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(EXIT_STATUS, value);
}

/** Facts that our own code decides on, so that nobody has to match message text. */
export interface ErrorDetail {
  /** Exit code or signal of a server's process. */
  readonly exitCode?: number;
  readonly exitSignal?: string;
  /** Bounded, cleaned tail of what the process wrote to stderr. */
  readonly stderr?: string;
  readonly httpStatus?: number;
  /** What a Retry-After header asked for. */
  readonly retryAfterMs?: number;
  /** The code of a JSON-RPC error answer, and its data. */
  readonly rpcCode?: number;
  /** What the server said with it, cleaned. */
  readonly rpcMessage?: string;
  readonly rpcData?: unknown;
  /** A legacy HTTP session that the server no longer knows. */
  readonly sessionExpired?: boolean;
  /** Trying again cannot help (no such command, no such folder). */
  readonly permanent?: boolean;
  /** The request never reached the server, so repeating it is safe. */
  readonly notSent?: boolean;
  /** What makes a refused action pass, as the end of a sentence: for the person, never for a model. */
  readonly advice?: string;
  /** The hint for a model, where that of the person or the author says more than a model should know. */
  readonly modelHint?: string;
  /** Ended in good order, by somebody who knows: nothing is begun again before it is needed. */
  readonly atRest?: boolean;
}

/** Defined by `scripts/bundle.mjs` in the files of the command, and in no others. */
declare const PLUGBOARD_COMMAND: true | undefined;

/** One text for a person who has the command, and one for a program that uses the library. */
export interface SurfaceText {
  readonly commands: string;
  readonly library: string;
}

/** The text that fits where this code runs: the command is a build of its own, so nothing has to be passed along. */
export function forSurface({ commands, library }: SurfaceText): string {
  return typeof PLUGBOARD_COMMAND === 'undefined' ? library : commands;
}

export interface PlugboardErrorOptions {
  readonly server?: string | undefined;
  /** One sentence: what the person can do about it, or one for each surface if it names commands or code. */
  readonly hint?: string | SurfaceText | undefined;
  readonly cause?: unknown;
  readonly detail?: ErrorDetail | undefined;
}

/** The same in every copy of this module: a program can load the ES modules and the CommonJS build, or bundle both. */
const BRAND: symbol = Symbol.for('plugboard.PlugboardError');

/**
 * Everything Plugboard rejects with.
 *
 * @example
 * try {
 *   await host.call('mcp__files__read', { path: 'a.md' });
 * } catch (error) {
 *   if (error instanceof PlugboardError && error.code === 'NEEDS_AUTH') console.error(error.hint);
 * }
 */
export class PlugboardError extends Error {
  override readonly name = 'PlugboardError';
  readonly code: ErrorCode;
  readonly server: string | undefined;
  readonly hint: string | undefined;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, options: PlugboardErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.server = options.server;
    this.hint = typeof options.hint === 'object' ? forSurface(options.hint) : options.hint;
    this.detail = options.detail ?? {};
  }

  /** True for errors of other copies of this class, too. */
  static override [Symbol.hasInstance](value: unknown): value is PlugboardError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  /** The shape that `--json` prints under `error`. */
  toJSON(): { code: ErrorCode; message: string; server?: string; hint?: string; stderr?: string } {
    return {
      code: this.code,
      message: this.message,
      ...(this.server === undefined ? {} : { server: this.server }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.detail.stderr ? { stderr: this.detail.stderr } : {}),
    };
  }
}

Object.defineProperty(PlugboardError.prototype, BRAND, { value: true });

/** The hint as a model may read it. */
export function hintForModel({ hint, detail }: Pick<PlugboardError, 'hint' | 'detail'>): string | undefined {
  return detail.modelHint ?? hint;
}

/** The error as its person may read it: with the advice that models are not given. */
export function forPerson(error: PlugboardError): PlugboardError {
  const { advice } = error.detail;
  if (advice === undefined) return error;
  return new PlugboardError(error.code, error.message, {
    server: error.server,
    hint: `No one can be asked here. To allow it, ${advice}.`,
    cause: error.cause,
    detail: error.detail,
  });
}

/** The same error with a server's name on it: lower layers do not know whose work they do. */
export function forServer(error: PlugboardError, server: string): PlugboardError {
  if (error.server !== undefined) return error;
  return new PlugboardError(error.code, error.message, {
    server,
    hint: error.hint,
    cause: error.cause,
    detail: error.detail,
  });
}

/** Turns whatever was thrown into a PlugboardError; foreign errors are a fault of ours. */
export function asPlugboardError(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): PlugboardError {
  if (thrown instanceof PlugboardError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new PlugboardError(fallback, message, { cause: thrown });
}
