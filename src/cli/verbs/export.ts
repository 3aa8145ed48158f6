/** `plugboard export`: writes Plugboard itself into another agent's configuration, or takes that back. */

import { existsSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { unwritable } from '../../config/edit.ts';
import { findProjectRoot } from '../../config/home.ts';
import type { Agent, ForeignFile, Program } from '../../config/import/agent.ts';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { setEntry, type Written, writeProgram } from '../../config/import/write.ts';
import { PlugboardError } from '../../errors.ts';
import { errorCode } from '../../lib/error-code.ts';
import { updateFile } from '../../lib/locked-file.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { type ExportRecord, forgetRecord, keepRecord, readRecord, recordFile } from '../export-record.ts';
import { foreignPlaces } from '../foreign-places.ts';
import { lineDiff } from '../line-diff.ts';
import { ownProgram } from '../own-program.ts';
import { type Context, type Flags, textFlag, type Verb } from '../verb.ts';

/** What it is called there. */
const NAME = 'plugboard';
/** Of folders that are made for another agent. */
const FOLDER_MODE = 0o755;

export const exportVerb: Verb = {
  configure(command: Command): void {
    command
      .requiredOption('--to <agent>', `whose configuration: ${AGENTS.map(({ id }) => id).join(', ')}`)
      .addOption(
        new Option('-s, --scope <scope>', 'your own file (user, the default) or that of the project').choices(
          ['user', 'project'],
        ),
      )
      .option('--dry-run', 'show the change; write nothing')
      .option('--overwrite', 'replace another entry called "plugboard"')
      .option('--undo', 'take back what an earlier export wrote')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const agent = agentCalled(textFlag(flags, 'to') ?? '');
    const scope = textFlag(flags, 'scope') === 'project' ? 'project' : 'user';
    const work: Work = { context, agent, scope, isDry: flags['dryRun'] === true };
    return flags['undo'] === true ? undo(work) : write(work, flags['overwrite'] === true);
  },
};

const EXAMPLES = `
Every server that Plugboard has is then there as one server called "plugboard": plugboard serve --stdio.

Examples:
  plugboard export --to codex --dry-run    the change, without making it
  plugboard export --to codex
  plugboard export --to codex --undo       as it was before`;

interface Work {
  readonly context: Context;
  readonly agent: Agent;
  readonly scope: 'user' | 'project';
  readonly isDry: boolean;
}

async function write(work: Work, overwrite: boolean): Promise<number> {
  const { context, agent, scope, isDry } = work;
  const file = targetFile(work);
  const record = recordFile(context, agent.id, scope);
  const known = await readRecord(record);
  const change = { name: NAME, program: programFor(context, scope) };
  let before: string | undefined;
  let written: Written | undefined;
  await edit(work, file, async (text) => {
    before = text;
    written = await writeProgram(agent, file, text ?? '', change);
    if (written.action === 'replace' && !overwrite && !isDry) throw anotherOne(agent, file);
    // Kept before the file changes: what cannot be taken back must not happen.
    if (written.action !== 'same' && !isDry)
      await keepRecord(context, record, recordOf(file, text, written, known));
    return written.text;
  });
  if (written === undefined) throw new Error(`${file.path} was not looked at`);
  answerWritten(work, file, { written, before, record });
  return 0;
}

/** The first text is kept when one export follows another. */
function recordOf(
  { path: file, format }: ForeignFile,
  text: string | undefined,
  { path, text: after, previous }: Written,
  known: ExportRecord | undefined,
): ExportRecord {
  const isOurs = known !== undefined && known.file === file && known.after === text;
  return {
    file,
    format,
    path,
    before: isOurs ? known.before : (text ?? null),
    after,
    previous: isOurs ? known.previous : (previous ?? null),
  };
}

function answerWritten(
  { context: { output }, agent, isDry }: Work,
  file: ForeignFile,
  { written, before, record }: { written: Written; before: string | undefined; record: string },
): void {
  const { action, entry, text } = written;
  const diff = action === 'same' ? [] : lineDiff(before ?? '', text);
  const backup = action === 'same' || isDry ? {} : { backup: record };
  output.answer(
    { agent: agent.id, file: file.path, name: NAME, action, dryRun: isDry, entry, diff, ...backup },
    () => {
      if (action === 'same') return `${agent.title} has Plugboard already in ${file.path}`;
      const lines = diff.map((line) =>
        line.startsWith('-') ? output.paint.bad(line) : output.paint.good(line),
      );
      if (isDry) return [`Would change ${file.path}:`, ...lines].join('\n');
      return [
        `${output.paint.good('Wrote')} Plugboard into ${file.path}:`,
        ...lines,
        `Take it back with: plugboard export --to ${agent.id} --undo`,
      ].join('\n');
    },
  );
}

async function undo(work: Work): Promise<number> {
  const { context, agent, scope, isDry } = work;
  const { output } = context;
  const kept = recordFile(context, agent.id, scope);
  const record = await readRecord(kept);
  if (record === undefined) {
    throw new PlugboardError('USAGE', `There is no export to ${agent.title} to take back.`, {
      hint: `plugboard export --to ${agent.id} writes one.`,
    });
  }
  const file = { path: record.file, format: record.format };
  let exact = false;
  let isGone = false;
  await edit(work, file, async (text) => {
    isGone = text === undefined;
    exact = text === record.after;
    if (text === undefined) return undefined;
    if (exact) return record.before ?? undefined;
    // Somebody changed the file since: their changes stay, and only our entry goes.
    return setEntry(file, text, record.path, record.previous ?? undefined);
  });
  if (!isDry) {
    if (exact && record.before === null) await unlink(record.file);
    await forgetRecord(kept);
  }
  const action = isGone ? 'none' : exact ? 'restored' : 'removed';
  output.answer({ agent: agent.id, file: record.file, name: NAME, action, dryRun: isDry }, () =>
    isGone
      ? `${record.file} is not there any more; nothing is left to take back.`
      : exact
        ? `${record.file} ${isDry ? 'would be' : 'is'} as it was before.`
        : `Plugboard ${isDry ? 'would be' : 'is'} taken out of ${record.file}; it was changed since and keeps those changes.`,
  );
  return 0;
}

/** Reads the file and puts what `change` makes of it in its place, all under its lock; a dry run only reads. */
async function edit(
  { context, isDry }: Work,
  { path }: Pick<ForeignFile, 'path'>,
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  const { home, signal } = context;
  try {
    if (isDry) {
      await change(await readFile(path, 'utf8').catch(absent));
      return;
    }
    await makeFolder(dirname(path), FOLDER_MODE);
    await updateFile(path, change, { lockDir: join(home.run, 'locks'), signal });
  } catch (error) {
    throw error instanceof PlugboardError || signal.aborted ? error : unwritable(path, error);
  }
}

function absent(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

/** A file that is there, else one whose folder is, else the first. */
function targetFile({ context, agent, scope }: Work): ForeignFile {
  const where = foreignPlaces(context, findProjectRoot(context.cwd));
  const files = agent.files(where).filter((file) => file.scope === scope && file.readOnly !== true);
  const there =
    files.find(({ path }) => existsSync(path)) ?? files.find(({ path }) => existsSync(dirname(path)));
  const file = there ?? files[0];
  if (file !== undefined) return file;
  throw new PlugboardError('USAGE', `${agent.title} has no file of its own in a project.`, {
    hint: 'Leave --scope out.',
  });
}

/** A project's file is for everybody, on machines where the program lies elsewhere. */
function programFor({ env }: Context, scope: Work['scope']): Program {
  const [command = NAME, ...words] = scope === 'project' ? [NAME] : ownProgram(env);
  const home = scope === 'project' ? undefined : env['PLUGBOARD_HOME'];
  return {
    command,
    args: [...words, 'serve', '--stdio'],
    // Whoever starts it later may not have it, and would serve another home.
    env: home ? { PLUGBOARD_HOME: home } : {},
  };
}

function anotherOne(agent: Agent, { path }: ForeignFile): PlugboardError {
  return new PlugboardError('USAGE', `${agent.title} has another server called "${NAME}" in ${path}.`, {
    hint: '--overwrite replaces it, --dry-run shows what would change.',
  });
}
