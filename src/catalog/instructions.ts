/** Texts of servers for models, each under the name of its server. */

export interface Instructions {
  readonly server: string;
  /** Cleaned and bounded, as the catalog has it. */
  readonly text: string;
}

export function joinInstructions(all: readonly Instructions[]): string {
  return all.map(({ server, text }) => `## ${server}\n\n${text}`).join('\n\n');
}
