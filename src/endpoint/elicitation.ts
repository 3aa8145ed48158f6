/** What a client said about being asked: by a form, or by an address to visit. */

import { isRecord } from '../lib/json-rpc.ts';
import type { Asker } from './eras.ts';

/** The first version in which an elicitation says its mode, and may be an address. */
export const FIRST_MODE_VERSION = '2025-11-25';

/** An empty capability means forms: addresses came later, and have to be named. */
export function canElicit({ capabilities }: Asker, mode: 'form' | 'url'): boolean {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return false;
  return mode === 'url'
    ? isRecord(elicitation['url'])
    : isRecord(elicitation['form']) || !isRecord(elicitation['url']);
}
