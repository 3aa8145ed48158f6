/** What servers may ask of a client, in either era: the requests, the answers, and how they are declared (CAL-3). */

import type { Params } from './peer.ts';
import type { QuestionId } from './questions-board.ts';
import type { SampleParams } from './sample-types.ts';

const MAX_ROOTS = 1_000;

export interface ElicitRequest {
  readonly server: string;
  readonly mode: 'form' | 'url';
  readonly message: string;
  /** The fields of a form, flat; every text in it is cleaned. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Not opened until the answer is `accept`, and then by `openUrl` if the host has one, else by you. */
  readonly url?: string;
  /** The server's id of a page, in the legacy era: the event `elicitation.complete` has it when the page is done. */
  readonly elicitationId?: string;
  /** What the server calls this question among those of one request, where it has a name for it. */
  readonly key?: string;
  /** Where `url` leads: show it. */
  readonly host?: string;
  /** What the person has to know before saying yes: about an address, or a form that asks for a secret. */
  readonly warning?: string;
  /** The `_meta` of the server's request, without keys that are ours. */
  readonly _meta?: Params;
  readonly session: string;
  /** Aborted when the answer is not needed any longer; always there, as that of an approval. */
  readonly signal?: AbortSignal;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  readonly _meta?: Params;
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface SampleRequest {
  readonly server: string;
  /** The protocol's `sampling/createMessage`, with `maxTokens` within our ceiling. */
  readonly params: SampleParams;
  /** As for an elicitation. */
  readonly key?: string;
  readonly session: string;
  /** As for an elicitation. */
  readonly signal?: AbortSignal;
}

/** How the person, the model and the project are reached. Questions of a kind that is left out are refused. */
export interface Questioned {
  readonly elicit?:
    | ((request: ElicitRequest, id: QuestionId) => ElicitAnswer | Promise<ElicitAnswer>)
    | undefined;
  /** `never`: no question of a server reaches the person, whatever `elicit` could do. */
  readonly elicitation?: 'ask' | 'never' | undefined;
  /** Returns a {@link SampleResult}, which is checked. */
  readonly sample?: ((request: SampleRequest, id: QuestionId) => unknown) | undefined;
  /** What `sample` understands besides text, images and audio: `tools` with `toolChoice`, and `includeContext`. */
  readonly sampling?: { readonly tools?: boolean; readonly context?: boolean } | undefined;
  readonly roots?:
    | readonly Root[]
    | ((request: RootsRequest) => readonly Root[] | Promise<readonly Root[]>)
    | undefined;
}

/** Which server asks for the roots. */
export interface RootsRequest {
  readonly server: string;
  /** True if the server works on something for the session that is asked; false for a question outside of all work. */
  readonly isAtWork: boolean;
}

/** Who is asked: a session. */
export interface Asked extends Questioned {
  readonly id: string;
}

export function canElicit({ elicit, elicitation }: Questioned): boolean {
  return elicit !== undefined && elicitation !== 'never';
}

/** The capabilities that declare what can be asked here, as `initialize` has them. */
export function capabilitiesOf(asked: Questioned): Params {
  const { sample, sampling, roots } = asked;
  return {
    ...(canElicit(asked) ? { elicitation: { form: {}, url: {} } } : {}),
    ...(sample === undefined
      ? {}
      : {
          sampling: {
            ...(sampling?.tools === true ? { tools: {} } : {}),
            ...(sampling?.context === true ? { context: {} } : {}),
          },
        }),
    ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  };
}

/** The roots of a session, bounded. */
export async function rootsOf(
  roots: NonNullable<Questioned['roots']>,
  request: RootsRequest,
): Promise<readonly Root[]> {
  const list = typeof roots === 'function' ? await roots(request) : roots;
  return list.slice(0, MAX_ROOTS);
}
