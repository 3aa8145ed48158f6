/** Decides on which stream a question during a call is shown, or why it cannot be asked. */

export type QuestionPlace = { readonly on: 'stdout' | 'stderr' } | { readonly why: string };

interface Terminals {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** True if stdout is for one JSON document. */
  readonly json: boolean;
}

/** The answer is read from stdin, and the question must be visible. If stdout is a pipe (`| jq`), stderr is used. */
export function questionPlace({ stdin, stdout, stderr, json }: Terminals): QuestionPlace {
  if (!stdin) return { why: 'stdin is not a terminal' };
  if (stdout && !json) return { on: 'stdout' };
  return stderr ? { on: 'stderr' } : { why: 'stderr is not a terminal' };
}
