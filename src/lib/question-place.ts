/** Where a question during a call is put, or why no one can be asked. */

export type QuestionPlace = { readonly on: 'stdout' | 'stderr' } | { readonly why: string };

interface Terminals {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** Stdout is for one JSON document. */
  readonly json: boolean;
}

/** The answer is typed into stdin, and the question has to be seen. A pipe on stdout (`| jq`) leaves stderr for it. */
export function questionPlace({ stdin, stdout, stderr, json }: Terminals): QuestionPlace {
  if (!stdin) return { why: 'stdin is not a terminal' };
  if (stdout && !json) return { on: 'stdout' };
  return stderr ? { on: 'stderr' } : { why: 'stderr is not a terminal' };
}
