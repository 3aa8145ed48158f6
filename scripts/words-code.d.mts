/** Types of the check of texts in code, for its test. */

import type { Source } from './words.mjs';

export function parsed(code: string, file: string): Source;
