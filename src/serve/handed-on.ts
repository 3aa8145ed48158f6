/** What a request of a client of the gateway hands on to the server that it goes to. */

import { type HandedOn, passedMeta, without } from '../connection/handed-on.ts';
import { type Asker, DEFAULT_LEVEL, type Params } from '../endpoint/eras.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { QuestionDesk } from './questions.ts';

/** Members of the params that the gateway reads itself; all others are handed on. */
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

/** `desk`: the page, while a person looks at it. */
export function handedOnBy(params: Params, asker: Asker, desk: QuestionDesk | undefined): HandedOn {
  const { logLevel } = asker;
  const meta = passedMeta(params['_meta']);
  const more = without(params, isReadHere);
  // The level that no one has chosen is the host's too.
  const level = logLevel === DEFAULT_LEVEL ? undefined : logLevel;
  return { meta, params: more, logLevel: level, capabilities: capabilitiesBy(asker, desk) };
}

/** What can be asked during a request: what its client declared, and what a person at the page can answer. */
function capabilitiesBy({ capabilities }: Asker, desk: QuestionDesk | undefined): Params {
  const { elicitation, sampling, roots, experimental, extensions } = capabilities;
  const elicited = desk === undefined ? elicitation : { form: {}, url: {} };
  const sampled = sampling ?? (desk === undefined ? undefined : {});
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
