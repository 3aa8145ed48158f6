/** Threads of an agent that is served as a tool: their conversations, remembered approvals, and hosts. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isServerRule } from '../call/approve-content.ts';
import { createMemory, type SessionMemory, type SessionOptions } from '../call/session.ts';
import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load.ts';
import { PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import type { HostSession } from '../host/host-session.ts';
import { systemClock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { toolMatcher } from '../policy/approval.ts';
import type { AgentBounds, BoundSettings } from './agent-bounds.ts';
import type { AgentHost } from './agent-events.ts';
import { AgentHosts, type HostLimits } from './agent-hosts.ts';
import type { ThreadSettings } from './agent-request.ts';
import { Conversation } from './conversation.ts';

export interface ThreadsOptions {
  readonly host: Host;
  readonly home: Home;
  readonly bounds: AgentBounds;
  /** Options of `host`: threads in another folder or under other limits use the same servers. */
  readonly hostOptions: HostOptions;
}

/** Maximum number of threads whose approvals are remembered; older threads are asked again. */
const MAX_REMEMBERED = 256;

export interface Thread {
  readonly conversation: Conversation;
  readonly settings: ThreadSettings;
}

export class Threads {
  readonly #options: ThreadsOptions;
  readonly #folder: string;
  /** Threads with a running turn: two turns at once would corrupt the conversation. */
  readonly #busy = new Set<string>();
  readonly #hosts: AgentHosts;
  /** Session memory by thread id; the most recently used is last. */
  readonly #memories = new Map<string, SessionMemory>();

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#folder = join(options.home.dir, 'threads');
    this.#hosts = new AgentHosts(options.hostOptions, options.hostOptions.clock ?? systemClock);
  }

  /** Closes the hosts that were created for threads. */
  close(): Promise<void> {
    return this.#hosts.close();
  }

  begin(settings: ThreadSettings, principal: string): Thread {
    const conversation = Conversation.begin(this.#folder, { settings, owner: ownerOf(principal) });
    return { conversation, settings };
  }

  /** Rejects another principal's thread with the same error as a missing one (A7). */
  async resume(id: string, principal: string): Promise<Thread> {
    const conversation = await Conversation.resume(this.#folder, id);
    const { settings, owner } = conversation.head;
    if (owner !== ownerOf(principal) || !isRecord(settings)) {
      throw new PlugboardError('USAGE', `There is no conversation ${JSON.stringify(id)}`);
    }
    // Written by begin() from parsed settings; the limits are applied at every turn.
    return { conversation, settings: settings as ThreadSettings };
  }

  /** Runs `work` with the thread's tools; one turn at a time. */
  async use<T>(
    { conversation: { id } }: Thread,
    settings: BoundSettings,
    questions: SessionOptions,
    work: (host: AgentHost) => Promise<T>,
  ): Promise<T> {
    if (this.#busy.has(id)) {
      throw new PlugboardError('USAGE', 'This thread is still running', {
        hint: 'Wait for its answer, or start another thread.',
      });
    }
    this.#busy.add(id);
    try {
      return await this.#withHost(settings, async (host) => {
        const asked = settings.approvalPolicy === 'never' ? { roots: questions.roots } : questions;
        const session = host.session({
          ...asked,
          approvals: 'enforce',
          stateOf: { principal: `thread ${id}` },
          memory: this.#memoryOf(id),
          profile: settings.profile,
        });
        try {
          return await work(agentHost(host, session, settings));
        } finally {
          session.end();
        }
      });
    } finally {
      this.#busy.delete(id);
    }
  }

  /** Each turn is a separate session that can ask through its own request; its memory is shared within the thread. */
  #memoryOf(id: string): SessionMemory {
    const memory = this.#memories.get(id) ?? createMemory();
    this.#memories.delete(id);
    this.#memories.set(id, memory);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > MAX_REMEMBERED && oldest !== undefined) this.#memories.delete(oldest);
    return memory;
  }

  /** Uses the gateway's own host, or another one if the thread has its own folder or limits. */
  async #withHost<T>(settings: BoundSettings, work: (host: Host) => Promise<T>): Promise<T> {
    const { cwd, sandbox, toolSearch, contextTokens } = settings;
    const isPlain =
      cwd === undefined && sandbox !== 'read-only' && toolSearch === undefined && contextTokens === undefined;
    if (isPlain) {
      // A model gets its tools once per turn, so wait for servers that are still connecting.
      await this.#options.host.ready().catch(() => {});
      return work(this.#options.host);
    }
    const { home, bounds } = this.#options;
    // A folder inside the roots may belong to a project outside of them.
    if (cwd !== undefined) await bounds.folder((await loadConfig({ cwd, home })).projectRoot);
    const limits: HostLimits = {
      ...(cwd === undefined ? {} : { cwd }),
      ...(sandbox === 'read-only' ? { sandbox: 'strict', sandboxState: { mode: 'read-only' } } : {}),
      ...(toolSearch === undefined ? {} : { toolSearch }),
      ...(contextTokens === undefined ? {} : { model: { images: true, contextTokens } }),
    };
    return this.#hosts.use(limits, async (host) => {
      await host.ready().catch(() => {});
      return work(host);
    });
  }
}

/** Wraps a session of a host for an agent, with only the tools that it may use. */
function agentHost(
  host: Host,
  session: HostSession,
  { tools: globs, profile }: Pick<BoundSettings, 'tools' | 'profile'>,
): AgentHost {
  const lists = globs.map((list) => list.map((rule) => toolMatcher(rule, 'allow')));
  const isAllowed = (name: string): boolean => {
    const spellings = session.spellings(name) ?? { long: [name], short: [] };
    return name === TOOL_SEARCH || lists.every((rules) => rules.some((matches) => matches(spellings)));
  };
  /** Mentions in a prompt are read without a tool, so they need a rule that allows the whole server. */
  const allowsServer = (server: string): boolean =>
    globs.every((list) => list.some((glob) => isServerRule(glob, server)));
  return {
    tools: () => session.tools().filter(({ name }) => isAllowed(name)),
    call: (name, args, options) => {
      if (isAllowed(name)) return session.call(name, args, options);
      return Promise.reject(
        new PlugboardError('DENIED', `${name} is not among the tools that this thread may use`),
      );
    },
    on: (event, listener) => host.on(event, listener),
    expand: (text, options) => session.expand(text, options, allowsServer),
    instructions: () => (profile === undefined ? host : session).instructions(),
    definitionTokens: () => host.definitionTokens(),
  };
}

/** Hashed, because the principal may be a token, which must not be stored. */
function ownerOf(principal: string): string {
  return createHash('sha256').update(principal).digest('hex');
}
