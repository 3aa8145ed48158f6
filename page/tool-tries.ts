/** Opened tools with their input, running call and result, which stay while another view is shown. */

import { type Signal, signal } from '@preact/signals';
import { type Api, ApiError, apiPath } from './api.ts';
import type { CallResult, ToolReport } from './api-types.ts';
import type { CallLog } from './call-log.ts';
import type { Drafts } from './drafts.ts';
import { FormState } from './form/form-state.ts';

/** The result is requested after this time if no event reported the end of the call. */
const RECHECK_MS = 5_000;
const RETRY_MS = 100;
/** Past this limit, the least recently opened idle tool is dropped. */
const MAX_KEPT = 50;

export type Answer =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly ref: string; readonly key?: string }
  | { readonly state: 'done'; readonly result: CallResult; readonly ms: number }
  | { readonly state: 'failed'; readonly message: string; readonly hint: string | undefined }
  | { readonly state: 'cancelled' };

interface TryParts {
  readonly api: Api;
  readonly drafts: Drafts;
  readonly calls: CallLog;
}

interface StartedCall {
  readonly key: string;
  readonly ref: string;
  readonly begunAt: number;
}

function isStarted(value: unknown): value is StartedCall {
  const { key, ref, begunAt } = (value ?? {}) as Partial<StartedCall>;
  return typeof key === 'string' && typeof ref === 'string' && typeof begunAt === 'number';
}

export class ToolTry {
  readonly name: string;
  readonly answer: Signal<Answer> = signal<Answer>({ state: 'none' });
  readonly problems: Signal<readonly string[]> = signal<readonly string[]>([]);
  readonly form: Signal<FormState>;
  readonly #parts: TryParts;
  #schema: string;

  constructor(tool: ToolReport, parts: TryParts) {
    this.name = tool.name;
    this.#parts = parts;
    this.#schema = JSON.stringify(tool.inputSchema);
    this.form = signal(this.#formOf(tool, parts.drafts.load(this.#key)));
    void this.#resume();
  }

  get isRunning(): boolean {
    return this.answer.value.state === 'running';
  }

  /** Takes a new definition of the tool; keeps the input and the result. */
  refresh(tool: ToolReport): void {
    const schema = JSON.stringify(tool.inputSchema);
    if (schema === this.#schema) return;
    this.#schema = schema;
    const { value } = this.form.value.read();
    this.form.value = this.#formOf(tool, undefined);
    this.form.value.setValue(value);
  }

  /** Runs the tool with what was filled in, unless that is invalid. */
  async run(): Promise<void> {
    if (this.isRunning) return;
    const { value, problems } = this.form.value.check();
    this.problems.value = problems;
    if (problems.length > 0) return;
    // Identifies events of this call among other calls of the same tool.
    const ref = crypto.randomUUID();
    const begunAt = Date.now();
    this.answer.value = { state: 'running', ref };
    try {
      // The call does not end with this window, so that a reload finds it again.
      const body = { name: this.name, arguments: value, ref, wait: false };
      const { key } = await this.#parts.api.send<{ key: string }>('POST', apiPath('call'), body);
      this.#parts.drafts.save(this.#callKey, { key, ref, begunAt });
      await this.#follow({ key, ref, begunAt });
    } catch (error) {
      this.answer.value = failureOf(error);
    }
  }

  async cancel(): Promise<void> {
    const answer = this.answer.value;
    if (answer.state !== 'running' || answer.key === undefined) return;
    // A call that has just ended shows its result.
    await this.#parts.api.send('POST', apiPath('calls', answer.key, 'cancel')).catch(() => {});
  }

  /** Follows the call that ran when the page was reloaded. */
  async #resume(): Promise<void> {
    const call = this.#parts.drafts.load(this.#callKey);
    if (!isStarted(call)) return;
    try {
      await this.#follow(call);
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404;
      this.answer.value = isGone ? { state: 'none' } : failureOf(error);
    }
  }

  async #follow({ key, ref, begunAt }: StartedCall): Promise<void> {
    this.answer.value = { state: 'running', ref, key };
    const { api, calls } = this.#parts;
    for (;;) {
      await calls.ended(key, RECHECK_MS);
      try {
        const result = await api.get<CallResult>(apiPath('calls', key, 'result'));
        const ms = calls.get(key)?.ms ?? Date.now() - begunAt;
        this.answer.value = { state: 'done', result, ms };
      } catch (error) {
        if (isPending(error)) {
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
          continue;
        }
        if (calls.get(key)?.outcome !== 'cancelled') throw error;
        this.answer.value = { state: 'cancelled' };
      }
      return;
    }
  }

  get #key(): string {
    return `tool:${this.name}`;
  }

  get #callKey(): string {
    return `call:${this.name}`;
  }

  #formOf(tool: ToolReport, draft: unknown): FormState {
    return new FormState(tool.inputSchema, {
      id: 'try',
      draft,
      onChange: (next) => {
        // Problems of the last attempt are outdated after an edit.
        this.problems.value = [];
        this.#parts.drafts.save(this.#key, next);
      },
    });
  }
}

/** True while a call has no result yet, or the gateway cannot be reached. */
function isPending(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.status === 0 || (error.status === 409 && error.code === 'USAGE'))
  );
}

function failureOf(error: unknown): Answer {
  const { message, hint } = error instanceof ApiError ? error : new ApiError(0, { message: String(error) });
  return { state: 'failed', message, hint };
}

export class ToolTries {
  readonly #parts: TryParts;
  readonly #tries = new Map<string, ToolTry>();

  constructor(parts: TryParts) {
    this.#parts = parts;
  }

  /** Returns the try of a tool, created when the tool is first opened. */
  of(tool: ToolReport): ToolTry {
    const found = this.#tries.get(tool.name) ?? new ToolTry(tool, this.#parts);
    found.refresh(tool);
    this.#tries.delete(tool.name);
    this.#tries.set(tool.name, found);
    if (this.#tries.size > MAX_KEPT) this.#dropOldest();
    return found;
  }

  #dropOldest(): void {
    for (const [name, each] of this.#tries) {
      if (each.isRunning) continue;
      this.#tries.delete(name);
      return;
    }
  }
}
