/** One real agent with a scripted model of its own: what it offers its model, and what its tools answered. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { type AskedRequest, type Reply, ScriptedModel } from '../chat/scripted-model.ts';
import type { AgentId, AgentProgram } from './programs.ts';

/** What the model sees when it is its turn. */
export interface Turn {
  /** Tools of the entry called `plugboard`, by the gateway's names. */
  readonly tools: readonly string[];
  /** Texts of all tool results so far, oldest first. */
  readonly results: readonly string[];
}

interface CallMove {
  readonly call: string;
  readonly args?: object;
  /** The entry that the tool belongs to; by default the agent's first. */
  readonly entry?: string;
}

/** A call of one of the offered tools, or the end of the turn. */
export type Move = CallMove | { readonly text: string };
export type Step = Move | ((turn: Turn) => Move | Promise<Move>);

export interface AgentRun {
  readonly agent: RealAgent;
  /** Requests to the model so far, without those for titles and the like. */
  readonly turns: readonly Turn[];
  /** All turns, when the agent has ended by itself; rejects if it failed or its model could not follow the script. */
  readonly ended: Promise<readonly Turn[]>;
}

interface RunningScript {
  readonly steps: readonly Step[];
  readonly turns: Turn[];
  readonly faults: string[];
  /** The call that waits until the agent has loaded its tool. */
  loading?: CallMove | undefined;
}

export class RealAgent {
  readonly program: AgentProgram;
  readonly model: ScriptedModel;
  /** Its entries for servers: the script sees the tools of the first, and may call those of all. */
  entries: readonly string[] = ['plugboard'];
  /** Whether it waits for servers longer than by default. */
  isPatient = true;
  readonly #runs = new Set<ChildProcess>();
  #script: RunningScript | undefined;

  private constructor(program: AgentProgram, model: ScriptedModel) {
    this.program = program;
    this.model = model;
  }

  static async create(program: AgentProgram): Promise<RealAgent> {
    const model = await ScriptedModel.answering((request) => agent.#reply(request));
    const agent = new RealAgent(program, model);
    return agent;
  }

  get #entry(): string {
    return this.entries[0] ?? '';
  }

  get id(): AgentId {
    return this.program.id;
  }

  /** Starts one headless run that follows the script; its last answer is `Done.`. */
  start(steps: readonly Step[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): AgentRun {
    const script: RunningScript = { steps, turns: [], faults: [] };
    this.#script = script;
    const [program = '', ...args] = this.program.command('Follow the script.', this.entries);
    // In a group of its own, so that a test that fails can end what the agent has started.
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...this.program.environment(this.model.url, this.isPatient) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#runs.add(child);
    const ended = this.#ended(child, script);
    // A test that fails for another reason leaves it unobserved.
    ended.catch(() => undefined);
    return { agent: this, turns: script.turns, ended };
  }

  async #ended(child: ChildProcess, script: RunningScript): Promise<readonly Turn[]> {
    const printed = Promise.all([child.stdout, child.stderr].map((stream) => stream && readAll(stream)));
    const [status] = await once(child, 'close');
    this.#runs.delete(child);
    const problems = [...script.faults, ...(status === 0 ? [] : [`exit status ${status}`])];
    if (problems.length > 0)
      throw new Error(`${this.id}: ${problems.join('; ')}\n${(await printed).join('\n')}`);
    return script.turns;
  }

  async #reply({ body }: AskedRequest): Promise<Reply> {
    const script = this.#script;
    // A request without tools asks for a title or a summary.
    if (script === undefined || !Array.isArray(body.tools) || body.tools.length === 0)
      return { text: 'A title' };
    const move = script.loading ?? (await this.#nextMove(script, body));
    if ('text' in move) return move;
    const called = this.program.callOf(move.entry ?? this.#entry, move.call);
    const loading = script.loading === undefined ? this.program.loadingOf?.(body, called.name) : undefined;
    // The tool is called in the next request, which belongs to the same turn.
    script.loading = loading === undefined ? undefined : move;
    return { calls: [loading ?? { ...called, arguments: move.args ?? {} }] };
  }

  async #nextMove(script: RunningScript, body: AskedRequest['body']): Promise<Move> {
    const turn: Turn = {
      tools: this.program.offered(body, this.#entry).sort(),
      results: resultsOf(body),
    };
    const step = script.steps[script.turns.length] ?? { text: 'Done.' };
    script.turns.push(turn);
    const move = typeof step === 'function' ? await step(turn) : step;
    if ('text' in move) return move;
    const offered = this.program.offered(body, move.entry ?? this.#entry);
    if (offered.includes(move.call)) return move;
    script.faults.push(`${move.call} is not among the offered tools: ${offered.join(', ')}`);
    return { text: 'I cannot follow the script.' };
  }

  async close(): Promise<void> {
    for (const { pid, exitCode } of this.#runs) if (exitCode === null && pid !== undefined) endGroup(pid);
    await this.model.close();
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Ended by itself in the meantime.
  }
}

interface Block {
  readonly type?: string;
  readonly role?: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

/** Tool results in the requests of all three APIs. */
function resultsOf({ messages, input }: { messages?: Block[]; input?: Block[] }): string[] {
  if (input !== undefined)
    return (
      input
        .filter(({ type }) => type === 'function_call_output')
        // Codex puts a line about the duration in front.
        .map(({ output }) => textOf(output).replace(/^Wall time: .*\nOutput:\n?/, ''))
    );
  return (messages ?? []).flatMap(({ role, content }) => {
    if (role === 'tool') return [textOf(content)];
    const blocks = Array.isArray(content) ? (content as Block[]) : [];
    return blocks.filter(isToolResult).map((block) => textOf(block.content));
  });
}

/** Of a tool that the script has called: not of one that loads others. */
function isToolResult({ type, content }: Block): boolean {
  if (type !== 'tool_result') return false;
  return !Array.isArray(content) || (content as Block[]).every((block) => block.type !== 'tool_reference');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return (content as Block[]).map(({ text = '' }) => text).join('');
  return JSON.stringify(content);
}
