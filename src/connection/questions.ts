/** What servers may ask of us, in either era, and how each question leaves through what the host was given (CAL-3). */

import { PlugboardError } from '../errors.ts';
import { isRecord, RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';
import { methodNotFound, type Params } from './peer.ts';

const MAX_MESSAGE_CHARS = 8_192;

export interface ElicitRequest {
  readonly server: string;
  readonly mode: 'form' | 'url';
  readonly message: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  readonly session: string;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface SampleRequest {
  readonly server: string;
  readonly params: Params;
  readonly session: string;
}

/** How the person, the model and the project are reached. What is left out is refused. */
export interface Questioned {
  readonly elicit?: ((request: ElicitRequest) => ElicitAnswer | Promise<ElicitAnswer>) | undefined;
  readonly sample?: ((request: SampleRequest) => unknown) | undefined;
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
}

export interface Questions {
  /** What we tell servers that they may ask. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  answer(server: string, method: string, params: Params): Promise<unknown>;
}

export function createQuestions(questioned: Questioned, session: string): Questions {
  const { elicit, sample, roots } = questioned;
  const capabilities = {
    ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(sample === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
  return {
    capabilities,
    async answer(server, method, params) {
      if (method === 'elicitation/create' && elicit !== undefined) {
        return elicit(elicitation(server, session, params));
      }
      if (method === 'sampling/createMessage' && sample !== undefined)
        return sample({ server, params, session });
      if (method === 'roots/list' && roots !== undefined) {
        return { roots: typeof roots === 'function' ? await roots() : roots };
      }
      throw methodNotFound(method);
    },
  };
}

function elicitation(server: string, session: string, params: Params): ElicitRequest {
  const { message, requestedSchema, url } = params;
  const mode = params['mode'] === 'url' ? 'url' : 'form';
  if (mode === 'url' && (typeof url !== 'string' || !URL.canParse(url))) {
    throw new PlugboardError('PROTOCOL_ERROR', 'a url elicitation has to have a url', {
      detail: { rpcCode: RPC_INVALID_PARAMS },
    });
  }
  return {
    server,
    mode,
    message: clean(typeof message === 'string' ? message : '', { max: MAX_MESSAGE_CHARS }),
    ...(mode === 'form' && isRecord(requestedSchema) ? { schema: requestedSchema } : {}),
    ...(mode === 'url' && typeof url === 'string' ? { url } : {}),
    session,
  };
}
