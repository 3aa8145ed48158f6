/** A tool of the catalog, as `tools --json` prints it. */

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
  /** Unknown hints. */
  readonly [hint: string]: unknown;
}

/** A tool as a model is given it. */
export interface Tool {
  /** The name for models: `mcp__server__tool`. */
  readonly name: string;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /** Present if a call can become a task. Optional: for callers without task support the task is awaited. */
  readonly execution?: { readonly taskSupport: 'optional' };
  /** Searchable, but not given to the model until it was found. */
  readonly deferred?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Readonly<Record<string, unknown>>[];
  /** Unknown members of its definition. */
  readonly extra?: Readonly<Record<string, unknown>>;
}
