/**
 * What attacks in descriptions have in common, as classes of words that meet in one sentence: who is spoken to, what
 * is ordered, what it is about, and where it should go. Phrases are not listed; an attacker has other ones.
 */

import { AIMS } from './scan-rules-aims.ts';
import { ORDERS } from './scan-rules-orders.ts';
import type { Rule } from './scan-words.ts';

export const RULES_OF_SENTENCES: readonly Rule[] = [...ORDERS, ...AIMS];
