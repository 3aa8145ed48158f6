/** Operations of a host for the management API and the page, which programs with the library do not need. */

import type { Call } from '../call/call.ts';
import type { CallRecorder } from '../call/call-recorder.ts';
import type { Home } from '../config/home.ts';
import type { InputValues } from '../config/input-values.ts';
import type { LoadedConfig } from '../config/load.ts';
import { unknownServer } from '../config/unknown-server.ts';
import type { ErrorDetail } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { serverLogFile } from '../transport/server-log.ts';
import type { HostCore } from './host-core.ts';
import { HostEntries } from './host-entries.ts';
import { HostRules } from './host-rules.ts';
import type { HostSecrets } from './host-secrets.ts';

export class HostManagement {
  readonly #core: HostCore;
  #rules: HostRules | undefined;
  #entries: HostEntries | undefined;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** The rules for calls. */
  get rules(): HostRules {
    this.#rules ??= new HostRules(this.#core);
    return this.#rules;
  }

  /** The entries of servers. */
  get entries(): HostEntries {
    this.#entries ??= new HostEntries(this.#core);
    return this.#entries;
  }

  /** Whether the annotations of a server are believed. */
  isTrusted(server: string): boolean {
    return this.#core.pool.get(server)?.spec.entry.trusted === true;
  }

  /** Returns the display name that a connected server gives itself. */
  titleOf(server: string): string | undefined {
    return this.#core.pool.get(server)?.negotiated?.serverInfo?.title;
  }

  /** Returns the value or program that a server failed for. */
  missingFor(server: string): ErrorDetail['missing'] {
    const state = this.#core.pool.get(server)?.state;
    return state !== undefined && 'error' in state ? state.error.detail.missing : undefined;
  }

  /**
   * Returns the file of a server's log.
   *
   * @throws PlugboardError UNKNOWN_SERVER.
   */
  logFile(server: string): string {
    const spec = this.#core.pool.get(server)?.spec;
    if (spec === undefined) throw unknownServer(server);
    return serverLogFile(this.#core.home, spec);
  }

  /** Where changes for a person are made. */
  get setup(): { readonly cwd: string; readonly home: Home; readonly env: NodeJS.ProcessEnv } {
    const { options, home, env } = this.#core;
    return { cwd: options.cwd ?? process.cwd(), home, env };
  }

  /** The stored answers to `${input:id}`. */
  get inputValues(): InputValues {
    return this.#core.inputs.values;
  }

  get config(): LoadedConfig {
    return this.#core.config;
  }

  get home(): Home {
    return this.#core.home;
  }

  /** Removes the secrets of all servers from texts. */
  get secrets(): HostSecrets {
    return this.#core.secrets;
  }

  /** False if calls are not kept with their values. */
  get keepsHistory(): boolean {
    return this.#core.config.settings.history !== false;
  }

  /** True while a call of this host goes on in the background. */
  get isBusy(): boolean {
    return this.#core.calls.isBusy;
  }

  /** Reads all lists again in the background: another process has read one that differs. */
  relist(): void {
    void this.#core.relist();
  }

  /** Returns a call that is recorded and has not ended. */
  runningCall(id: string): Call | undefined {
    return this.#core.calls.running.items().find((call) => call.id === id);
  }

  /** Gives every call, with its values, to a recorder; the returned function ends it. */
  recordCalls(recorder: CallRecorder): Unsubscribe {
    const { recorders } = this.#core;
    recorders.push(recorder);
    return () => {
      const at = recorders.indexOf(recorder);
      if (at !== -1) recorders.splice(at, 1);
    };
  }
}
