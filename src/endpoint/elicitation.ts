/** Reads a client's elicitation capabilities: forms, or URLs to visit. */

import { isRecord } from '../lib/json.ts';
import type { ClientInfo } from './client-era.ts';

/** The first version in which an elicitation has a mode, and may be a URL. */
export const FIRST_MODE_VERSION = '2025-11-25';

/**
 * Whether a client supports a mode. An empty capability means forms: URLs were added later, and have to be declared.
 */
export function canElicit({ capabilities }: ClientInfo, mode: 'form' | 'url'): boolean {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return false;
  return mode === 'url'
    ? isRecord(elicitation['url'])
    : isRecord(elicitation['form']) || !isRecord(elicitation['url']);
}
