/** Types of the check of words, for its test. */

export interface Source {
  readonly isData: boolean;
}

export interface Finding {
  readonly kind: string;
  readonly text: string;
}

export function commentsOf(code: string): [line: number, text: string][];
export function findWords(code: string, file?: string): string[];
export function findInCode(source: Source, file: string): Finding[];
export function findPageWords(text: string, file?: string): string[];
