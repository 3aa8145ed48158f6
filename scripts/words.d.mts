/** Types of the check of words, for its test. */

export function commentsOf(code: string): [line: number, text: string][];
export function findWords(code: string, file?: string): string[];
