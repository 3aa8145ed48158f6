/** Calls in nodes of LangGraph: it runs a whole node again for each answer of a person, and no call may be made twice. */

import { isRecord } from '../lib/json.ts';

/** Nodes whose calls are kept, in this process. Those that wait for a person are kept longer. */
const MAX_RUNNING = 100;
const MAX_INTERRUPTED = 1000;

/** The part of a tool's configuration that is read here. */
interface Config {
  readonly signal?: AbortSignal | undefined;
  readonly configurable?: unknown;
}

/** One call, in the steps that a node repeats. */
interface Steps<Result> {
  isAsked(): Promise<boolean>;
  /** Throws to interrupt the graph. Returns the result of a refused call, or undefined to go on. */
  ask(): Result | undefined;
  /** Never rejects. */
  call(approved: boolean): Promise<Result>;
}

interface Node<Result> {
  readonly asked: Set<string>;
  readonly results: Map<string, Promise<Result>>;
  /** LangGraph hands out answers by the order of the questions, so they are asked one by one. */
  turn: Promise<unknown>;
}

export class GraphNodes<Result> {
  readonly #running = new Map<string, Node<Result>>();
  readonly #interrupted = new Map<string, Node<Result>>();
  /** How often each run of a node has made a call: ids of some models are not unique. */
  readonly #made = new WeakMap<object, Map<string, number>>();

  /** Returns the result that the call had when its node ran before; else asks about the call and makes it. */
  async run(config: Config, identity: string, steps: Steps<Result>): Promise<Result> {
    const { place, run } = placeOf(config);
    const node = this.#nodeAt(place);
    const key = `${this.#count(run, identity)} ${identity}`;
    const decided = node.turn.then(async () => {
      // Also if the call was allowed since: its answer would be taken for that of the next question.
      const isAsked = node.asked.has(key) || (await steps.isAsked());
      if (!isAsked) return { isAsked, refused: undefined };
      node.asked.add(key);
      try {
        return { isAsked, refused: steps.ask() };
      } catch (interruption) {
        if (place !== undefined) this.#keep(place, node);
        throw interruption;
      }
    });
    node.turn = decided.catch(() => undefined);
    const { isAsked, refused } = await decided;
    if (refused !== undefined) return refused;
    const result = node.results.get(key) ?? steps.call(isAsked);
    node.results.set(key, result);
    await result;
    // A run that was cancelled and is resumed makes its calls again.
    if (config.signal?.aborted === true) node.results.delete(key);
    return result;
  }

  #nodeAt(place: string | undefined): Node<Result> {
    const known =
      place === undefined ? undefined : (this.#interrupted.get(place) ?? this.#running.get(place));
    if (known !== undefined) return known;
    const node = { asked: new Set<string>(), results: new Map(), turn: Promise.resolve() };
    if (place !== undefined) bound(this.#running.set(place, node), MAX_RUNNING);
    return node;
  }

  #keep(place: string, node: Node<Result>): void {
    this.#running.delete(place);
    bound(this.#interrupted.set(place, node), MAX_INTERRUPTED);
  }

  #count(run: object | undefined, identity: string): number {
    if (run === undefined) return 0;
    const made = this.#made.get(run) ?? new Map<string, number>();
    const count = made.get(identity) ?? 0;
    this.#made.set(run, made.set(identity, count + 1));
    return count;
  }
}

/** The thread and the task, which a resumed run has again and a replayed one has not; and an object of this run alone. */
function placeOf({ configurable }: Config): { readonly place?: string; readonly run?: object } {
  if (!isRecord(configurable)) return {};
  const { thread_id: thread, checkpoint_ns: task, __pregel_scratchpad: scratchpad } = configurable;
  if (typeof task !== 'string' || task === '') return {};
  const place = JSON.stringify([thread, task]);
  return typeof scratchpad === 'object' && scratchpad !== null ? { place, run: scratchpad } : { place };
}

function bound(nodes: Map<string, unknown>, limit: number): void {
  if (nodes.size <= limit) return;
  for (const oldest of nodes.keys()) return void nodes.delete(oldest);
}
