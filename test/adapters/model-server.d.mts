export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
  /** Arguments of a search by the provider's own mechanism; Responses only. */
  readonly search?: unknown;
}

/** What a request shows a model. */
export interface View {
  readonly names: readonly string[];
  readonly results: readonly { readonly text: string; readonly isError?: boolean }[];
  /** Media types of everything in it that is not text. */
  readonly media: readonly string[];
}

export interface ModelServer {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: request bodies of four providers, looked into by tests only
  readonly requests: readonly any[];
  /** Why requests were refused. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export function modelServer(
  turns: readonly Turn[] | ((view: View, number: number) => Turn),
): Promise<ModelServer>;
