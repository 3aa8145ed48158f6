/** The answers of the management API that the page reads, as docs/management-api.md documents them. */

import type { Status } from './states.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly stderr?: string;
}

export interface ServerReport {
  readonly name: string;
  readonly scope: string;
  readonly transport: string;
  readonly status: Status;
  readonly tools: number;
  readonly error?: Fault;
  readonly protocolVersion?: string;
  readonly era?: string;
  readonly connectMs?: number;
  readonly pid?: number;
  readonly held?: number;
  readonly quarantined?: readonly { readonly tool: string; readonly reason: string }[];
  readonly disabledBy?: { readonly by: string; readonly file?: string };
  readonly waiting?: { readonly scope: string; readonly status: string; readonly error: Fault };
  readonly title?: string;
  readonly icon?: string;
  readonly next?: NextStep;
}

/** The one thing to do about a server that needs a person. */
export interface NextStep {
  readonly action: string;
  readonly message: string;
  readonly input?: string;
  readonly setting?: string;
  readonly url?: string;
}

export interface ServerPlace {
  readonly scope: string;
  readonly file?: string;
  readonly isUsed: boolean;
  readonly isEditable: boolean;
  readonly enabled?: boolean;
}

export interface ServerOrigin extends ServerReport {
  readonly entry: Json;
  readonly places?: readonly ServerPlace[];
  readonly notes?: readonly string[];
  readonly file?: string;
  readonly terms?: string;
  readonly credentials?: string;
  readonly unapproved?: { readonly entry: Json; readonly shown: string; readonly digest: string };
}

export interface Problem {
  readonly file: string;
  readonly message: string;
  readonly line?: number;
  readonly hint?: string;
}

export interface ToolReport {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: Json;
  readonly title?: string;
  readonly outputSchema?: Json;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly deferred?: boolean;
}

export interface FoundTool extends Pick<ToolReport, 'name' | 'server' | 'tool' | 'description'> {
  readonly title?: string;
  readonly deferred?: boolean;
  readonly score: number;
  /** Set on every result of a search in which nothing fits well. */
  readonly weak?: boolean;
  readonly why?: readonly { readonly field: string; readonly words: readonly string[] }[];
}

export interface ServerStats {
  readonly name: string;
  readonly definitionTokens: number;
  readonly calls: number;
  readonly running: number;
  readonly failed: number;
  readonly p50?: number;
  readonly p95?: number;
  readonly recent: readonly number[];
}

export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallReport {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly session: string;
  readonly client?: string;
  readonly profile?: string;
  readonly ref?: string;
  readonly at: number;
  readonly ms?: number;
  readonly outcome?: string;
  readonly code?: string;
  readonly progress?: Progress;
  readonly key?: string;
  readonly agent?: Agent;
  readonly folder?: string;
  readonly rule?: string;
  readonly decision?: string;
  readonly tokens?: { readonly arguments?: number; readonly result?: number };
}

export interface Agent {
  readonly name: string;
  readonly version?: string;
}

export interface CallDetail extends CallReport {
  readonly arguments?: unknown;
  readonly result?: CallResult;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly cut?: { readonly arguments?: number; readonly result?: number };
}

export interface Question {
  readonly id: string;
  readonly kind: string;
  readonly server: string;
  readonly session: string;
  readonly at: number;
  readonly until: number;
  readonly call?: string;
  readonly tool?: string;
  readonly name?: string;
  readonly arguments?: Json;
  readonly annotations?: Json;
  readonly reason?: string;
  readonly askRule?: string;
  readonly mode?: string;
  readonly message?: string;
  readonly schema?: Json;
  readonly url?: string;
  readonly host?: string;
  readonly warning?: string;
  readonly client?: string;
  readonly profile?: string;
  readonly agent?: Agent;
  readonly folder?: string;
  readonly destructive?: boolean;
  readonly rule?: string;
  readonly ruleIn?: string;
  readonly suggestions?: readonly string[];
  readonly params?: { readonly systemPrompt?: unknown; readonly messages?: readonly SampleMessage[] };
}

export interface SampleMessage {
  readonly role: string;
  readonly content: unknown;
}

export interface Budget {
  readonly calls?: number;
  readonly resultTokens?: number;
  readonly per: string;
  readonly server?: string;
  readonly tool?: string;
  readonly used: number;
  readonly resetsInSeconds: number;
}

export interface ClientReport {
  readonly name: string;
  readonly profile?: string;
  readonly recognisedBy: readonly string[];
  readonly token?: { readonly created: number; readonly expires?: number };
  readonly sessions: number;
  readonly calls: number;
  readonly failed: number;
  readonly last?: number;
  readonly problem?: string;
  readonly budgets?: readonly Budget[];
}

export interface ConnectedClient {
  readonly session: string;
  readonly client?: string;
  readonly profile?: string;
  readonly folder?: string;
  readonly agent?: Agent;
}

export interface LoginEvent {
  readonly server: string;
  readonly state: 'waiting' | 'done' | 'failed' | 'removed' | 'cancelled';
  readonly url?: string;
  readonly message?: string;
}

export interface ContentBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly resource?: {
    readonly uri?: unknown;
    readonly text?: unknown;
    readonly blob?: unknown;
    readonly mimeType?: unknown;
  };
}

export interface CallResult {
  readonly content?: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly mismatch?: readonly string[];
}
