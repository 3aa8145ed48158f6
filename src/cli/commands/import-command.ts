/** `plugboard import`: imports the servers of other agents on this machine, after showing them. */

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readDocument } from '../../config/document.ts';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { knownFile, recognise } from '../../config/import/any-file.ts';
import { type Found, findForeign, readDocumentOf } from '../../config/import/find.ts';
import type { Agent, Where } from '../../config/import/foreign-agent.ts';
import { loadConfig } from '../../config/load.ts';
import { PlugboardError } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import { inputLine, type PlannedInput, planInputs, writeImport } from '../../setup/import-inputs.ts';
import { type Planned, planImport, plannedDocument } from '../../setup/import-plan.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import { isAgreed } from '../ask.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { importLines, summaryLine } from '../import-lines.ts';
import { noteProblems } from '../problems.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const importCommand: CliCommand = {
  configure(command): void {
    command
      .argument(
        '[source...]',
        `agents (${AGENTS.map(({ id }) => id).join(', ')}) or files; default: all agents that are found`,
      )
      .addOption(scopeOption('scope to write to; default: the scope it has in the agent'))
      .option('--dry-run', 'show what would happen without writing anything')
      .option('--overwrite', 'replace existing entries with the same name')
      .option('-y, --yes', 'do not ask for confirmation')
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
      (await isAgreed(context, `Import ${counted(toWrite.length, 'server')}?`, {
        yes: flags['yes'] === true,
      }));
    if (goes) {
      await writeImport(context, config.projectRoot, { servers: toWrite, inputs });
    }
    output.answer(documentOf(found, planned, inputs, isDry), () => summaryLine(planned, isDry || !goes));
    return 0;
  },
};

const EXAMPLES = `
Shows what would be added, changed or skipped, and what cannot be imported. Asks before it writes; without a terminal,
--yes is required.

Examples:
  plugboard import --dry-run             show the servers of all agents on this machine
  plugboard import codex cursor          import from these agents only
  plugboard import vscode -s user        import for you, in every project
  plugboard import ./servers.json        import a file in the format of any of them`;

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

/** Finds the sources of `import`: agents by name, and files in the format of any agent. */
interface Sources {
  readonly found: Found;
  readonly agents: readonly Agent[];
}

/** @throws PlugboardError USAGE for an argument that is neither an agent nor a file with servers */
async function findSources({ cwd }: Context, words: readonly string[], where: Where): Promise<Sources> {
  if (words.length === 0) return { found: await findForeign(AGENTS, where), agents: AGENTS };
  const isFile = (word: string): boolean => /[\\/.]/.test(word) || isThere(resolve(cwd, word));
  const agents = [...new Set(words.filter((word) => !isFile(word)).map(agentCalled))];
  const files = await Promise.all(words.filter(isFile).map((word) => readSource(resolve(cwd, word), where)));
  const parts = [...files.map(({ found }) => found), await findForeign(agents, where)];
  return {
    found: {
      files: parts.flatMap((part) => part.files),
      servers: parts.flatMap((part) => part.servers),
      inputs: parts.flatMap((part) => part.inputs),
      problems: parts.flatMap((part) => part.problems),
    },
    agents: [...agents, ...files.map(({ agent }) => agent)],
  };
}

async function readSource(path: string, where: Where): Promise<{ found: Found; agent: Agent }> {
  if (!isThere(path)) {
    throw new PlugboardError('USAGE', `There is no file ${path}`, {
      hint: 'Name a file with servers, or an agent. Run plugboard import --help to see the agents.',
    });
  }
  const known = knownFile(realpathSync(path), where);
  const format = known?.file.format ?? (path.endsWith('.toml') ? 'toml' : 'json');
  const { parseToml } = format === 'toml' ? await import('../../config/import/toml.ts') : {};
  const document = await readDocument(path, parseToml);
  const [broken] = document.problems;
  if (document.value === undefined && broken !== undefined) {
    const place = [path, broken.line, broken.column].filter((part) => part !== undefined).join(':');
    throw new PlugboardError('CONFIG_INVALID', `${place}: ${broken.message}`);
  }
  // A file that does not belong to an agent is imported into local scope, the default of `add`.
  const recognised = known ?? recognise(document.value, { path, format, scope: 'local' });
  if (recognised === undefined) {
    throw new PlugboardError('USAGE', `${path} has no servers in a known format`, {
      hint: 'Put them under "mcpServers", "servers", "mcp" or "context_servers", or in TOML under mcp_servers.',
    });
  }
  const { agent, file } = recognised;
  return { agent, found: readDocumentOf(agent, { ...file, path }, document, where) };
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
