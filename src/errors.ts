/** The one error class of Plugboard and the union of its codes. Codes never change; messages may. */

/**
 * Exit status of the command line for each code. The keys are the public union of error codes.
 * The comment above each code gives its meaning and the fix: `npm run docs` generates the table in
 * docs/servers-in-trouble.md from them.
 */
export const EXIT_STATUS = {
  /** The command was given invalid arguments. Read the hint, or `--help`. */
  USAGE: 2,
  /** An entry or a variable is invalid. Fix what the message names. */
  CONFIG_INVALID: 2,
  /** A file that must be changed does not parse or cannot be written. Fix the file; it was not changed. */
  CONFIG_UNWRITABLE: 2,
  /** No server has this name. The hint has the nearest ones. */
  UNKNOWN_SERVER: 2,
  /** No tool has this name, or it was removed. The hint has the nearest ones; `plugboard tools`. */
  UNKNOWN_TOOL: 2,
  /** No task has this id, it belongs to another client, or it has expired. `plugboard tasks` lists them. */
  UNKNOWN_TASK: 2,
  /** The arguments do not fit the tool's schema; nothing was sent. The message names each field. */
  INVALID_ARGUMENTS: 2,
  /** The process could not be started, or exited at once. Run its command by hand; see below. */
  START_FAILED: 3,
  /** The address cannot be reached. Check url, network, proxy. */
  CONNECT_FAILED: 3,
  /** The address responds, but not with MCP. Check the path of the url. */
  NOT_MCP: 3,
  /** No response in time. Raise `startupTimeoutMs` or `toolTimeoutMs` if it only needs longer. */
  TIMEOUT: 3,
  /** The connection closed during a request. Look at the server's stderr; it is restarted automatically. */
  CONNECTION_LOST: 3,
  /** A limit was exceeded: a line over 64 MiB, too many waiting calls. Ask the server for less. */
  LIMIT_EXCEEDED: 3,
  /** The server responded with an error, or with a message that the protocol does not allow. The message quotes it. */
  PROTOCOL_ERROR: 3,
  /** A server with `required: true` is not available. Fix that server's own error. */
  REQUIRED_FAILED: 3,
  /** A login is missing or was refused. `plugboard login <name>`, or replace the token. */
  NEEDS_AUTH: 4,
  /** The authorization server does not register clients automatically. Register an application. */
  NEEDS_CLIENT_REGISTRATION: 4,
  /** A login or a `headersHelper` failed. The message says where. */
  AUTH_FAILED: 4,
  /**
   * A task has no result, because the process that ran it has ended. Check whether the call had its effect before you
   * repeat it.
   */
  TASK_LOST: 3,
  /**
   * The program's credential store failed or did not respond, or a task could not be stored. Try again; the message or
   * the log quotes the error.
   */
  STORE_FAILED: 3,
  /** Blocked by a policy or by `enabled: false`. The reason names it. */
  BLOCKED_BY_POLICY: 5,
  /** A project's server that has not been approved. `plugboard trust <name>`. */
  UNTRUSTED: 5,
  /** The call needs an approval and no person can be asked. `--yes`, an `approve` callback, or the rule in the log. */
  APPROVAL_REQUIRED: 5,
  /** A person or a `deny` rule refused it. */
  DENIED: 5,
  /** A budget is used up. Try again after the time in the hint, or raise the budget. */
  RATE_LIMITED: 5,
  /**
   * The definition is new or has changed since the server was first used. Review: `plugboard pins`; accept:
   * `plugboard pins <name> --accept`.
   */
  PIN_CHANGED: 5,
  /**
   * The lock is for other packages, is invalid, or the installed files differ from it; nothing was started. Review the
   * change, then `plugboard lock <name>`.
   */
  LOCK_MISMATCH: 5,
  /** npm could not find, download or install the packages of a lock. The message quotes npm. */
  LOCK_FAILED: 3,
  /** A server named an address that must not be contacted. See SECURITY.md. */
  EGRESS_REFUSED: 5,
  /** The output could not be written. Free disk space, or write it to another place. */
  OUTPUT_FAILED: 74,
  /** A bug in Plugboard. Run it with `--verbose` and report the output. */
  INTERNAL: 70,
  /** The call was cancelled. */
  CANCELLED: 130,
} as const;

/** The codes of {@link PlugboardError}; codes are never renamed. */
export type ErrorCode = keyof typeof EXIT_STATUS;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(EXIT_STATUS, value);
}

/** Facts that our own code branches on, so that it never matches message text. */
/** The place of a problem in a text or an entry that the caller gave. */
export interface ErrorPlace {
  /** Characters before it. */
  readonly at?: number;
  /** Both begin with 1. */
  readonly line?: number;
  readonly column?: number;
  /** The path of a member of an entry. */
  readonly path?: readonly string[];
  /** The scopes to choose from. */
  readonly scopes?: readonly { readonly scope: string; readonly file?: string }[];
}

export interface ErrorDetail {
  /** Exit code or signal of a server's process. */
  readonly exitCode?: number;
  readonly exitSignal?: string;
  /** Bounded, cleaned tail of the process's stderr. */
  readonly stderr?: string;
  readonly httpStatus?: number;
  /** Delay from a Retry-After header. */
  readonly retryAfterMs?: number;
  /** When a used-up budget is renewed. */
  readonly retryAfterSeconds?: number;
  /** The code of a JSON-RPC error response; `rpcData` is its data. */
  readonly rpcCode?: number;
  /** The server's error message, cleaned. */
  readonly rpcMessage?: string;
  readonly rpcData?: unknown;
  /** A legacy HTTP session that the server has dropped. */
  readonly sessionExpired?: boolean;
  /** A retry cannot help (missing command, missing folder). */
  readonly permanent?: boolean;
  /** The request never reached the server, so repeating it is safe. */
  readonly notSent?: boolean;
  /** How to allow a refused action, as the end of a sentence: for the person, never for a model. */
  readonly advice?: string;
  /** The hint for a model, where the hint for the person or the author contains more than a model should read. */
  readonly modelHint?: string;
  /** A value or program that a server needs and that is missing. */
  readonly missing?: { readonly kind: 'variable' | 'input' | 'program'; readonly name: string };
  /** Where in a text or an entry of the caller the problem is. */
  readonly place?: ErrorPlace;
  /** The schemas that rejected arguments must match, by the name of the argument. */
  readonly expected?: Readonly<Record<string, unknown>>;
  /** The server shut down intentionally: it is not restarted before it is needed. */
  readonly atRest?: boolean;
}

/** Defined by `scripts/bundle.mjs` in the bundles of the command only. */
declare const PLUGBOARD_COMMAND: true | undefined;

/** One text for a person with the command line, and one for a program that uses the library. */
export interface SurfaceText {
  readonly commands: string;
  readonly library: string;
}

/** Returns the text for the surface this code runs on; the command is a separate build, so no parameter is needed. */
export function forSurface({ commands, library }: SurfaceText): string {
  return typeof PLUGBOARD_COMMAND === 'undefined' ? library : commands;
}

export interface PlugboardErrorOptions {
  readonly server?: string | undefined;
  /** One sentence that names the fix; one per surface if it mentions commands or code. */
  readonly hint?: string | SurfaceText | undefined;
  readonly cause?: unknown;
  readonly detail?: ErrorDetail | undefined;
}

/**
 * The same symbol in every copy of this module: a program can load the ES modules and the CommonJS build, or bundle
 * both.
 */
const BRAND: symbol = Symbol.for('plugboard.PlugboardError');

/**
 * The error class of everything that Plugboard rejects with.
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

  /** Also true for errors of other copies of this class. */
  static override [Symbol.hasInstance](value: unknown): value is PlugboardError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  /** The shape that `--json` prints under `error`. */
  toJSON(): {
    code: ErrorCode;
    message: string;
    server?: string;
    hint?: string;
    stderr?: string;
    retryAfterSeconds?: number;
  } {
    const { stderr, retryAfterSeconds } = this.detail;
    return {
      code: this.code,
      message: this.message,
      ...(this.server === undefined ? {} : { server: this.server }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(stderr ? { stderr } : {}),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }
}

Object.defineProperty(PlugboardError.prototype, BRAND, { value: true });

/** Returns the hint that a model may read. */
export function hintForModel({ hint, detail }: Pick<PlugboardError, 'hint' | 'detail'>): string | undefined {
  return detail.modelHint ?? hint;
}

/** Returns the error for a person: with the advice that is withheld from models. */
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

/** Returns the same error with a server's name: lower layers do not know which server they work for. */
export function forServer(error: PlugboardError, server: string): PlugboardError {
  if (error.server !== undefined) return error;
  return new PlugboardError(error.code, error.message, {
    server,
    hint: error.hint,
    cause: error.cause,
    detail: error.detail,
  });
}

/** Converts a thrown value to a PlugboardError; errors of other classes become INTERNAL by default. */
export function asPlugboardError(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): PlugboardError {
  if (thrown instanceof PlugboardError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new PlugboardError(fallback, message, { cause: thrown });
}
