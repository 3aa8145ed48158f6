/** `plugboard import`: imports the servers of other agents on this machine, after showing them. */

import type { Command } from 'commander';
import { AGENTS } from '../../config/import/agents.ts';
import type { Found } from '../../config/import/find.ts';
import { loadConfig } from '../../config/load.ts';
import { isAgreed } from '../ask.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { foreignPlaces } from '../foreign-places.ts';
import { inputLine, type PlannedInput, planInputs } from '../import-inputs.ts';
import { importLines, summaryLine } from '../import-lines.ts';
import { type Planned, planImport, plannedDocument } from '../import-plan.ts';
import { findSources } from '../import-sources.ts';
import { writeImport } from '../import-write.ts';
import { noteProblems } from '../problems.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const importCommand: CliCommand = {
  configure(command: Command): void {
    command
      .argument(
        '[source...]',
        `whose: ${AGENTS.map(({ id }) => id).join(', ')}; or a file; without any, all that are found`,
      )
      .addOption(
        scopeOption('where to write; default: as there, so yours stay yours and a project’s its own'),
      )
      .option('--dry-run', 'show what would happen; write nothing')
      .option('--overwrite', 'replace entries of the same name that differ')
      .option('-y, --yes', 'do not ask')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { cwd, home, output } = context;
    const config = await loadConfig({ cwd, home });
    const { found, agents } = await findSources(context, args, foreignPlaces(context, config.projectRoot));
    const options = { scope: scopeFlag(flags), overwrite: flags['overwrite'] === true };
    const planned = await planImport(context, found, config, options);
    const inputs = await planInputs(context, found, planned, config.projectRoot);
    const isDry = flags['dryRun'] === true;
    noteProblems(found.problems, output);
    output.line([importLines(found, planned, agents, output), ...inputs.map(inputLine)].join('\n'));
    const toWrite = planned.filter(({ action }) => action === 'add' || action === 'replace');
    const goes =
      !isDry &&
      toWrite.length > 0 &&
      (await isAgreed(context, question(toWrite), { yes: flags['yes'] === true }));
    if (goes) {
      await writeImport(context, config.projectRoot, { servers: toWrite, inputs });
    }
    output.answer(documentOf(found, planned, inputs, isDry), () => summaryLine(planned, isDry || !goes));
    return 0;
  },
};

const EXAMPLES = `
Shows what would be added, changed or left alone, and what cannot be carried over. It asks before it writes; without a terminal, --yes is the answer.

Examples:
  plugboard import --dry-run             what all agents on this machine have
  plugboard import codex cursor          only theirs
  plugboard import vscode -s user        yours, in every project
  plugboard import ./servers.json        a file in the format of any of them`;

function question({ length: count }: readonly Planned[]): string {
  return `Import ${count} ${count === 1 ? 'server' : 'servers'}?`;
}

function documentOf(
  found: Found,
  planned: readonly Planned[],
  inputs: readonly PlannedInput[],
  dryRun: boolean,
): Record<string, unknown> {
  return {
    dryRun,
    files: found.files.map(({ agent, file, servers }) => ({ source: agent.id, file, servers })),
    servers: planned.map(plannedDocument),
    inputs,
    problems: found.problems,
  };
}
