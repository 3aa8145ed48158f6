/** The one error class of Plugboard and the union of its codes. Codes never change; messages may. */

/** Exit status of the command line for each code. The keys are the public union of error codes. */
export const EXIT_STATUS = {
  USAGE: 2,
  CONFIG_INVALID: 2,
  CONFIG_UNWRITABLE: 2,
  UNKNOWN_SERVER: 2,
  UNKNOWN_TOOL: 2,
  INVALID_ARGUMENTS: 2,
  START_FAILED: 3,
  CONNECT_FAILED: 3,
  NOT_MCP: 3,
  TIMEOUT: 3,
  CONNECTION_LOST: 3,
  LIMIT_EXCEEDED: 3,
  PROTOCOL_ERROR: 3,
  REQUIRED_FAILED: 3,
  NEEDS_AUTH: 4,
  NEEDS_CLIENT_REGISTRATION: 4,
  AUTH_FAILED: 4,
  BLOCKED_BY_POLICY: 5,
  UNTRUSTED: 5,
  APPROVAL_REQUIRED: 5,
  DENIED: 5,
  PIN_CHANGED: 5,
  EGRESS_REFUSED: 5,
  INTERNAL: 70,
  CANCELLED: 130,
} as const;

export type ErrorCode = keyof typeof EXIT_STATUS;

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
  /** Ended in good order, by somebody who knows: nothing is begun again before it is needed. */
  readonly atRest?: boolean;
}

export interface PlugboardErrorOptions {
  readonly server?: string | undefined;
  /** One sentence: what the person can do about it. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly detail?: ErrorDetail | undefined;
}

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
    this.hint = options.hint;
    this.detail = options.detail ?? {};
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
