/** A tool as the catalog knows it and as `tools --json` prints it. */

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
  /** Hints that Plugboard does not know. */
  readonly [hint: string]: unknown;
}

export interface Tool {
  /** What a model calls it: `mcp__server__tool`. */
  readonly name: string;
  readonly server: string;
  /** What its server calls it. */
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /** Present if a call can become a task. It never has to: a task is followed for callers that do not. */
  readonly execution?: { readonly taskSupport: 'optional' };
  /** Known and searchable, but not handed to the model until it was found. */
  readonly deferred?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Readonly<Record<string, unknown>>[];
  /** Members of its definition that Plugboard does not know. */
  readonly extra?: Readonly<Record<string, unknown>>;
}
