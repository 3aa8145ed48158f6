/** What is searched for and what is found, as the tools, ripgrep and the thread that searches tell each other. */

export interface Place {
  readonly root: string;
  /** The folder to search, absolute and without links. */
  readonly folder: string;
  /** The files to look at, relative to the folder; undefined: the folder is walked through. */
  readonly files: readonly string[] | undefined;
  /** Whether node_modules is looked into. */
  readonly includeIgnored: boolean;
  /** Only files whose path below the folder matches. */
  readonly glob: string | undefined;
}

export interface GlobJob extends Place {
  readonly kind: 'glob';
  readonly max: number;
}

export interface GrepJob extends Place {
  readonly kind: 'grep';
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  readonly context: number;
  readonly filesOnly: boolean;
  readonly max: number;
}

/** A line that matches, or one beside it. */
export interface Row {
  /** Relative to the folder that was searched. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export type SearchMessage =
  | { readonly type: 'files'; readonly paths: readonly string[] }
  | { readonly type: 'rows'; readonly rows: readonly Row[] }
  | { readonly type: 'progress'; readonly searched: number; readonly total: number | undefined }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'end'; readonly truncated: boolean };

/** Longer lines are cut, for no reader wants them whole. */
export const MAX_ROW_CHARS = 500;
/** What is never searched. */
export const GIT_FOLDER = '.git';
/** What is searched only when ignored files are. */
export const PACKAGES_FOLDER = 'node_modules';
