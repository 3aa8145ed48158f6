/** Selects the parts of a gateway client's request that are forwarded to the server. */

import { type HandedOn, passedMeta, without } from '../connection/handed-on.ts';
import { type ClientInfo, DEFAULT_LEVEL, type Params } from '../endpoint/client-era.ts';
import { isRecord } from '../lib/json.ts';
import type { QuestionQueue } from './client-questions.ts';

/** Params that the gateway reads itself; all others are forwarded. */
const READ_HERE: ReadonlySet<string> = new Set([
  '_meta',
  'name',
  'arguments',
  'uri',
  'ref',
  'argument',
  'context',
  'task',
  'inputResponses',
  'requestState',
]);

/** `approvalQueue`: the page, while a person looks at it. */
export function handedOnBy(
  params: Params,
  clientInfo: ClientInfo,
  approvalQueue: QuestionQueue | undefined,
): HandedOn {
  const { logLevel } = clientInfo;
  const meta = passedMeta(params['_meta']);
  const more = without(params, isReadHere);
  // A level that was not chosen is the host's own.
  const level = logLevel === DEFAULT_LEVEL ? undefined : logLevel;
  return { meta, params: more, logLevel: level, capabilities: capabilitiesBy(clientInfo, approvalQueue) };
}

/**
 * Returns the kinds of questions allowed during a request: those its client declared, and those a person at the page
 * can answer.
 */
function capabilitiesBy({ capabilities }: ClientInfo, approvalQueue: QuestionQueue | undefined): Params {
  const { elicitation, sampling, roots, experimental, extensions } = capabilities;
  const elicited = approvalQueue === undefined ? elicitation : { form: {}, url: {} };
  const sampled = sampling ?? (approvalQueue === undefined ? undefined : {});
  return {
    ...(isRecord(elicited) ? { elicitation: elicited } : {}),
    ...(isRecord(sampled) ? { sampling: sampled } : {}),
    ...(isRecord(roots) ? { roots: {} } : {}),
    ...(isRecord(experimental) ? { experimental } : {}),
    ...(isRecord(extensions) ? { extensions } : {}),
  };
}

function isReadHere(key: string): boolean {
  return READ_HERE.has(key);
}
