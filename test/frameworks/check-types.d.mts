export interface SentRequest {
  readonly api: 'responses' | 'chat' | 'anthropic' | 'gemini';
  readonly body: unknown;
}

export function typeFaults(requests: readonly SentRequest[]): string[];

export function compileFaults(source: string): string[];
