/**
 * All scan rules for attacks in descriptions, as word classes within one sentence: who is addressed, what is ordered,
 * what it concerns, and where it is sent. Phrases are not listed, because an attacker can use other ones.
 */

import { AIMS } from './scan-rules-aims.ts';
import { ORDERS } from './scan-rules-orders.ts';
import type { Rule } from './scan-words.ts';

export const RULES_OF_SENTENCES: readonly Rule[] = [...ORDERS, ...AIMS];
