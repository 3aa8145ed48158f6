/** Joins the instructions of servers for models, each under its server's name. */

export interface Instructions {
  readonly server: string;
  /** Cleaned and bounded by the catalog. */
  readonly text: string;
}

export function joinInstructions(all: readonly Instructions[]): string {
  return all.map(({ server, text }) => `## ${server}\n\n${text}`).join('\n\n');
}
