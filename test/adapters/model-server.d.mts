export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
  /** Arguments of a search by the provider's own mechanism; Responses only. */
  readonly search?: unknown;
}

export interface ModelServer {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: request bodies of four providers, looked into by tests only
  readonly requests: readonly any[];
  close(): Promise<void>;
}

export function modelServer(turns: readonly Turn[]): Promise<ModelServer>;
