/** The messages between the search tools, ripgrep and the search thread: jobs and results. */

export interface Place {
  readonly root: string;
  /** The folder to search, absolute and without links. */
  readonly folder: string;
  /** The files to search, relative to the folder; undefined: walk the folder. */
  readonly files: readonly string[] | undefined;
  /** Whether node_modules is searched. */
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

/** A matching line, or a context line. */
export interface Row {
  /** Relative to the searched folder. */
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

/** Longer lines are truncated. */
export const MAX_ROW_CHARS = 500;
/** Never searched. */
export const GIT_FOLDER = '.git';
/** Searched only with ignored files. */
export const PACKAGES_FOLDER = 'node_modules';
