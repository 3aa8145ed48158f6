/** `plugboard import`: takes over what other agents on this machine are configured with, after showing what that is. */

import type { Command } from 'commander';
import { editTarget, setServer } from '../../config/edit.ts';
import { expandText } from '../../config/expand.ts';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { type Found, findForeign } from '../../config/import/find.ts';
import { loadConfig } from '../../config/load.ts';
import { asPlugboardError } from '../../errors.ts';
import { clean } from '../../policy/clean.ts';
import { confirm } from '../ask.ts';
import { keepClientSecret } from '../credentials.ts';
import { foreignPlaces } from '../foreign-places.ts';
import { inputLine, type PlannedInput, planInputs, writeInputs } from '../import-inputs.ts';
import { importLines, summaryLine } from '../import-lines.ts';
import { type Planned, planImport, plannedDocument } from '../import-plan.ts';
import { noteProblems } from '../problems.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';
import type { Context, Flags, Verb } from '../verb.ts';

export const importVerb: Verb = {
  configure(command: Command): void {
    command
      .argument(
        '[source...]',
        `whose: ${AGENTS.map(({ id }) => id).join(', ')}; without any, all that are found`,
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
    const agents = args.length === 0 ? AGENTS : [...new Set(args.map(agentCalled))];
    const config = await loadConfig({ cwd, home });
    const found = await findForeign(agents, foreignPlaces(context, config.projectRoot));
    const options = { scope: scopeFlag(flags), overwrite: flags['overwrite'] === true };
    const planned = await planImport(context, found, config, options);
    const inputs = await planInputs(context, found, planned, config.projectRoot);
    const isDry = flags['dryRun'] === true;
    noteProblems(found.problems, output);
    output.line([importLines(found, planned, agents, output), ...inputs.map(inputLine)].join('\n'));
    const toWrite = planned.filter(({ action }) => action === 'add' || action === 'replace');
    const goes = !isDry && toWrite.length > 0 && (await isAgreed(context, toWrite, flags));
    if (goes) {
      await writeInputs(context, config.projectRoot, inputs);
      for (const server of toWrite) await write(context, config.projectRoot, server);
    }
    output.answer(documentOf(found, planned, inputs, isDry), () => summaryLine(planned, isDry || !goes));
    return 0;
  },
};

const EXAMPLES = `
Shows what would be added, changed or left alone, and what cannot be carried over. On a terminal it asks before it writes.

Examples:
  plugboard import --dry-run             what all agents on this machine have
  plugboard import codex cursor          only theirs
  plugboard import vscode -s user        yours, in every project`;

async function isAgreed(context: Context, toWrite: readonly Planned[], flags: Flags): Promise<boolean> {
  if (!context.output.canAsk || flags['yes'] === true) return true;
  const count = toWrite.length;
  return confirm(context, `Import ${count} ${count === 1 ? 'server' : 'servers'}?`);
}

async function write(context: Context, projectRoot: string, server: Planned): Promise<void> {
  const { home, signal, env } = context;
  const { scope, raw, clientSecret, found } = server;
  const target = editTarget(scope, { home, projectRoot });
  await setServer(target, found.name, raw, { home, signal, replace: server.action === 'replace' });
  if (clientSecret === undefined) return;
  try {
    const url = expandText(String(raw['url']), env, { server: found.name, key: 'url' });
    await keepClientSecret(context, url, clientSecret);
  } catch (thrown) {
    // The server is there; without a variable of its address there is nothing to keep the secret under.
    const { message } = asPlugboardError(thrown);
    const text = `the client's secret of ${found.name} was not taken over: ${message}`;
    context.output.note(`note: ${clean(text, { multiline: false })}`);
  }
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
