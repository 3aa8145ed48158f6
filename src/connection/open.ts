/**
 * Opens a server: transport, era negotiation, first tool list.
 *
 * A server may not match its entry: some exit on the probe, some have changed era since the last start, some support
 * only the older HTTP transport. Each case is one more plan, tried once, after the previous attempt is closed.
 */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { decideRetry } from '../lib/retry.ts';
import { causeLine, isErrorLine, listeningLine } from '../transport/cause-line.ts';
import type { Transport } from '../transport/contract.ts';
import type { Implementation, Negotiated, RememberedEra } from './eras.ts';
import { type ListResult, listAll } from './listing.ts';
import { negotiate } from './negotiate.ts';
import { Peer, type PeerOwner } from './peer.ts';

/** One step of a start, with its duration. */
export interface Phase {
  readonly name: 'start' | 'negotiate' | 'list';
  readonly ms: number;
  readonly ok: boolean;
  readonly detail?: string;
}

export interface Opened {
  readonly peer: Peer;
  readonly negotiated: Negotiated;
  readonly tools: ListResult;
  /** Whether the era may be remembered for the next start. */
  readonly certain: boolean;
}

/** `sse`: the older HTTP transport, for servers that support nothing else. */
export type TransportChoice = 'configured' | 'sse';

export interface OpenOptions {
  readonly transport: (choice: TransportChoice) => Promise<Transport>;
  /** Whether this failure of the configured transport calls for a fallback to SSE. */
  readonly fallsBackToSse: (error: PlugboardError) => boolean;
  readonly owner: PeerOwner;
  readonly clock: Clock;
  readonly client: Implementation;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly logLevel: string;
  readonly verdict?: RememberedEra | undefined;
  readonly signal: AbortSignal;
  readonly phases: Phase[];
  readonly notice: (message: string) => void;
  /** Called with every transport that is being closed after a failed attempt, so that the owner can wait for it. */
  readonly closing: (done: Promise<void>) => void;
}

interface Plan {
  readonly choice: TransportChoice;
  readonly verdict: RememberedEra | undefined;
  readonly why: 'first' | 'renegotiate' | 'died-on-probe' | 'sse';
}

export async function openServer(options: OpenOptions): Promise<Opened> {
  const tried = new Set<Plan['why']>();
  let plan: Plan = { choice: 'configured', verdict: options.verdict, why: 'first' };
  for (;;) {
    tried.add(plan.why);
    const attempt = new Attempt(plan, options);
    try {
      return await attempt.run();
    } catch (thrown) {
      const error = silent(withStderr(asPlugboardError(thrown), attempt.stderr()), attempt.noise());
      const closed = attempt.close();
      options.closing(closed);
      const next = nextPlan(plan, attempt.phase, error, options);
      if (next === undefined || tried.has(next.why) || options.signal.aborted) throw error;
      await closed;
      plan = next;
    }
  }
}

function nextPlan(
  plan: Plan,
  phase: Phase['name'],
  error: PlugboardError,
  options: OpenOptions,
): Plan | undefined {
  if (plan.verdict !== undefined && plan.why === 'first' && decideRetry('era', error) === 'repeat') {
    return { choice: plan.choice, verdict: undefined, why: 'renegotiate' };
  }
  if (plan.choice === 'configured' && options.fallsBackToSse(error)) {
    return { choice: 'sse', verdict: { era: 'legacy' }, why: 'sse' };
  }
  // Some old servers exit on an unknown message; one that exits before its first message fails with START_FAILED.
  if (phase === 'negotiate' && plan.verdict === undefined && decideRetry('probe', error) === 'repeat') {
    return { choice: plan.choice, verdict: { era: 'legacy' }, why: 'died-on-probe' };
  }
  return undefined;
}

/** Adds stderr to the error: it often explains why a server is silent or sends invalid messages. */
function withStderr(error: PlugboardError, stderr: string): PlugboardError {
  if (stderr === '' || error.detail.stderr !== undefined || error.code === 'CANCELLED') return error;
  const { code, message, server, hint, cause, detail } = error;
  return new PlugboardError(code, message, { server, hint, cause, detail: { ...detail, stderr } });
}

/** Adds the server's own output to a startup timeout: the process may not be a stdio server at all. */
function silent(error: PlugboardError, noise: string | undefined): PlugboardError {
  const { code, message, server, cause, detail } = error;
  if (code !== 'TIMEOUT') return error;
  const listening = listeningLine(`${noise ?? ''}\n${detail.stderr ?? ''}`);
  const reason = listening === undefined ? failedInside(detail.stderr ?? '') : undefined;
  if (reason !== undefined) {
    return new PlugboardError(code, `${message}; it reported ${JSON.stringify(reason.line)}`, {
      server,
      cause,
      detail,
      hint: reason.hint,
    });
  }
  const line = listening?.line ?? noise;
  if (line === undefined) return error;
  return new PlugboardError(code, `${message}; it printed ${JSON.stringify(line)}`, {
    server,
    cause,
    detail,
    hint:
      listening === undefined
        ? 'This may not be a stdio MCP server, or it may need different arguments.'
        : `It serves over HTTP. Start it yourself, and give ${JSON.stringify(listening.url)}${/\/(?:mcp|sse)\/?$/.test(listening.url) ? '' : ', often with /mcp at its end,'} as "url" in place of "command".`,
  });
}

/** Messages about an unreachable network, as printed by programs of any language. */
const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+|fetch failed|name resolution|Name or service not known|Could not resolve host|Connection refused|network is unreachable|certificate|CERT_\w+|dial tcp/i;

/** Finds the error that a silent server printed; undefined if it printed only notices. */
function failedInside(stderr: string): { readonly line: string; readonly hint: string } | undefined {
  const network = stderr.split('\n').filter((text) => NETWORK.test(text));
  const unreached = causeLine(network.join('\n'), { latest: true });
  if (unreached !== undefined) {
    return {
      line: unreached,
      hint: 'It cannot reach an address that it needs. Check the network, and give it the proxy in "env" of its entry if there is one.',
    };
  }
  const line = causeLine(stderr, { latest: true });
  if (line === undefined || !isErrorLine(line)) return undefined;
  return { line, hint: 'Look at its stderr for the cause. Raise startupTimeoutMs if it only needs longer.' };
}

class Attempt {
  readonly #plan: Plan;
  readonly #options: OpenOptions;
  #transport: Transport | undefined;
  #aheadMs = 0;
  phase: Phase['name'] = 'start';

  constructor(plan: Plan, options: OpenOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  async run(): Promise<Opened> {
    const { clock, signal, client, capabilities, logLevel, notice, owner } = this.#options;
    const peer = await this.#timed('start', async () => {
      this.#transport = await this.#options.transport(this.#plan.choice);
      this.#aheadMs = this.#transport.aheadMs ?? 0;
      const made = new Peer(this.#transport, owner, clock);
      await made.open(signal);
      return made;
    });
    const { verdict } = this.#plan;
    const ahead = new AbortController();
    const negotiating = this.#timed('negotiate', () =>
      negotiate(peer, { client, capabilities, logLevel, verdict, clock, signal, notice }),
    );
    // The tools of a known modern server are requested before its discovery result arrives: saves one round trip.
    const listing =
      verdict?.era === 'modern'
        ? listAll(peer, 'tools', { signal: AbortSignal.any([signal, ahead.signal]) })
        : undefined;
    listing?.catch(() => {});
    try {
      const { negotiated, certain } = await negotiating;
      const tools = await this.#timed('list', async () => {
        if (!mayHaveTools(negotiated)) return { items: [] };
        return listing ?? listAll(peer, 'tools', { signal });
      });
      return { peer, negotiated, tools, certain };
    } finally {
      ahead.abort();
    }
  }

  stderr(): string {
    return this.#transport?.stderr?.() ?? '';
  }

  noise(): string | undefined {
    return this.#transport?.noise?.();
  }

  async close(): Promise<void> {
    await this.#transport?.close();
  }

  async #timed<T>(name: Phase['name'], work: () => Promise<T>): Promise<T> {
    const { clock, phases } = this.#options;
    this.phase = name;
    const startedAt = clock.now();
    try {
      const done = await work();
      const aheadMs = name === 'start' ? this.#aheadMs : 0;
      phases.push({ name, ms: clock.now() - startedAt + aheadMs, ok: true });
      return done;
    } catch (thrown) {
      phases.push({ name, ms: clock.now() - startedAt, ok: false, detail: asPlugboardError(thrown).message });
      throw thrown;
    }
  }
}

/** Old hand-written servers declare no capabilities but have tools; asking costs one rejected request. */
function mayHaveTools({ capabilities }: Negotiated): boolean {
  const declared = Object.keys(capabilities);
  return declared.length === 0 || declared.includes('tools');
}
