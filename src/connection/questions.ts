/** The questions of servers to a client, in either era: requests, answers, and capabilities (CAL-3). */

import type { QuestionId } from './open-questions.ts';
import type { Params } from './peer.ts';
import type { SampleParams } from './questions-sample.ts';

const MAX_ROOTS = 1_000;

/** A question of a server to the person: a form, or an address to open. */
export interface ElicitRequest {
  readonly server: string;
  readonly mode: 'form' | 'url';
  readonly message: string;
  /** The fields of a form, flat, with all text cleaned. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Opened only after the answer `accept`: by `openUrl` if the host has one, otherwise by your code. */
  readonly url?: string;
  /** The server's id of a page, in the legacy era; the event `elicitation.complete` has it when the page is done. */
  readonly elicitationId?: string;
  /** The server's key of this question within its request, if it has one. */
  readonly key?: string;
  /** The host of `url`; show it to the person. */
  readonly host?: string;
  /** Show it before the person accepts: about a URL, or a form that asks for a secret. */
  readonly warning?: string;
  /** The `_meta` of the server's request, without reserved keys. */
  readonly _meta?: Params;
  readonly session: string;
  /** Aborted when the answer is no longer needed; always set, as for an approval. */
  readonly signal: AbortSignal;
}

/** The answer to an elicitation. */
export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  readonly _meta?: Params;
}

/** A folder that servers may work in. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** A server's request for a completion by the model. */
export interface SampleRequest {
  readonly server: string;
  /** The params of `sampling/createMessage`, with `maxTokens` limited. */
  readonly params: SampleParams;
  /** As for an elicitation. */
  readonly key?: string;
  readonly session: string;
  /** As for an elicitation. */
  readonly signal: AbortSignal;
}

/** How to reach the person, the model and the project. Questions of a kind that is left out are rejected. */
export interface Questioned {
  /** Asks the person a question of a server; without it, servers do not get the capability. */
  readonly elicit?:
    | ((request: ElicitRequest, id: QuestionId) => ElicitAnswer | Promise<ElicitAnswer>)
    | undefined;
  /** `never`: rejects every elicitation, even if `elicit` is set. */
  readonly elicitation?: 'ask' | 'never' | undefined;
  /** Returns a {@link SampleResult}, which is validated. */
  readonly sample?: ((request: SampleRequest, id: QuestionId) => unknown) | undefined;
  /** The features of `sample` besides text, images and audio: `tools` with `toolChoice`, and `includeContext`. */
  readonly sampling?: { readonly tools?: boolean; readonly context?: boolean } | undefined;
  /** Folders that servers may work in. */
  readonly roots?:
    | readonly Root[]
    | ((request: RootsRequest) => readonly Root[] | Promise<readonly Root[]>)
    | undefined;
}

/** The server that requests the roots. */
export interface RootsRequest {
  readonly server: string;
  /** True if the server is working for the session that is asked; false for a request outside of any call. */
  readonly isAtWork: boolean;
}

/** The session that is asked. */
export interface Asked extends Questioned {
  readonly id: string;
}

export function canElicit({ elicit, elicitation }: Questioned): boolean {
  return elicit !== undefined && elicitation !== 'never';
}

/** Returns the capabilities to declare in `initialize`. */
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

/** Returns the roots of a session, limited in number. */
export async function rootsOf(
  roots: NonNullable<Questioned['roots']>,
  request: RootsRequest,
): Promise<readonly Root[]> {
  const list = typeof roots === 'function' ? await roots(request) : roots;
  return list.slice(0, MAX_ROOTS);
}

const MAX_URL_CHARS = 8_192;

export interface ShownUrl {
  readonly url: string;
  /** The host in its network form: other alphabets appear as `xn--…`. */
  readonly host: string;
  /** Shown before the person accepts. */
  readonly warning?: string;
}

/** Returns the normalized URL that would be opened, or one sentence on why it is refused. */
export function readUrl(raw: unknown): ShownUrl | { readonly refused: string } {
  if (typeof raw !== 'string' || raw.length > MAX_URL_CHARS || !URL.canParse(raw)) {
    return { refused: 'it has no address that can be read' };
  }
  const url = new URL(raw);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { refused: `an address that begins with ${url.protocol} is not for a browser` };
  }
  // `https://bank.example@evil.example/` opens evil.example.
  if (url.username !== '' || url.password !== '')
    return { refused: 'its address hides its host behind a user name' };
  const warning = warningFor(url);
  return { url: url.href, host: url.host, ...(warning === undefined ? {} : { warning }) };
}

function warningFor(url: URL): string | undefined {
  if (/(?:^|\.)xn--/.test(url.hostname)) {
    return `${url.hostname} is written with letters of other alphabets, which can look like another address.`;
  }
  const local = url.hostname === 'localhost' || url.hostname === '[::1]' || url.hostname.startsWith('127.');
  if (url.protocol === 'http:' && !local) {
    return 'The connection is not encrypted: others on the way can read what is typed there.';
  }
  return undefined;
}
