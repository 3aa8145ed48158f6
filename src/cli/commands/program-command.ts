/** `plugboard program`: runs programs over the tools of all servers, and saves, lists and removes them. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Argument } from 'commander';
import type { ShapedResult } from '../../call/shape.ts';
import { RUN } from '../../catalog/run-tool-definition.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { defined } from '../../lib/defined.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isRecord, type JsonObject } from '../../lib/json.ts';
import { parseJsonArgument } from '../../lib/json-argument.ts';
import { aborted } from '../../lib/waits.ts';
import { oneLine } from '../../policy/clean.ts';
import {
  checkedCode,
  findProgram,
  isProgramName,
  listPrograms,
  removeProgram,
  savedFile,
  saveProgram,
} from '../../programs/saved-programs.ts';
import { readInput, toArguments } from '../call-arguments.ts';
import { askingDuring } from '../call-questions.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { ProgressLine } from '../progress-line.ts';
import { readStdin } from '../read-stdin.ts';
import { resultText } from '../result-output.ts';
import { layOut } from '../text-layout.ts';
import { addRefreshFlag, missingTools, withLists } from '../with-lists.ts';

const ACTIONS = ['run', 'save', 'list', 'remove'] as const;
const STDIN: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() };
/** Exit status if the program failed, as of a tool. */
const EXIT_FAILED = 1;
/** Flags that belong to one action. */
const FLAG_ACTIONS = {
  yes: 'run',
  resume: 'run',
  refresh: 'run',
  description: 'save',
  input: 'save',
} as const;

export const program: CliCommand = {
  configure(command): void {
    addRefreshFlag(
      command
        .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
        .argument('[name]', 'name of a saved program; with run also a file, or - for stdin')
        .argument('[arguments...]', 'with save: the file; with run: its input, as key=value or key:=json')
        .option('-y, --yes', 'with run: approve its calls without asking')
        .option('--resume <id>', 'with run: continue a program that waits for an approval')
        .option('--description <text>', 'with save: what it does')
        .option('--input <file>', 'with save: a file with the JSON Schema of its input'),
    ).addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [action = '', name, ...rest] = args;
    for (const [flag, only] of Object.entries(FLAG_ACTIONS))
      if (flags[flag] !== undefined && action !== only)
        throw misuse('program', `--${flag} can only be used with program ${only}`);
    if (action === 'run') return run(context, args.slice(1), flags);
    if (action === 'list') {
      if (name !== undefined) throw misuse('program', 'plugboard program list does not take a name');
      return list(context);
    }
    if (name === undefined) throw misuse('program', `plugboard program ${action} needs a name`);
    const [file, ...more] = rest;
    if (action === 'remove') {
      if (file !== undefined) throw misuse('program', 'plugboard program remove takes one name');
      return remove(context, name);
    }
    if (file === undefined || more.length > 0)
      throw misuse('program', 'plugboard program save takes a name and a file');
    return save(context, { name, file }, flags);
  },
};

const EXAMPLES = `
A program is the body of an async function in TypeScript or JavaScript: tools.<server>.<tool>({ … }) calls a tool, input has
the values from the command line, and return gives the output. It runs in a sandbox, also without "codeMode".

Examples:
  plugboard program run report.ts repo=plugboard days:=7
  echo 'return await search("read a file")' | plugboard program run -
  plugboard program save report report.ts --description 'Lists new issues'
  plugboard program run report repo=plugboard --json
  plugboard program list`;

/** A program and the schema of its input. */
interface Given {
  readonly code: string;
  readonly input?: JsonObject;
}

async function run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const { output, signal } = context;
  const [source, ...words] = args;
  const resume = textFlag(flags, 'resume');
  if ((source === undefined) === (resume === undefined))
    throw misuse('program', 'plugboard program run needs a program: a name, a file or -; or --resume');
  const given =
    source === undefined ? undefined : await Promise.race([read(context, source), aborted(signal)]);
  const input = await Promise.race([inputOf(context, given?.input, words, source === '-'), aborted(signal)]);
  const line = new ProgressLine(output, source ?? 'program');
  const need = {
    ...askingDuring(context, { yes: flags['yes'] === true, before: () => line.clear() }),
    programs: true,
  };
  const wanted = { servers: undefined, refresh: flags['refresh'] === true, need };
  return withLists({ ...context, openHost: undefined }, wanted, async (host, noteUnreached) => {
    noteUnreached(missingTools(host, wanted));
    const result = await host
      .call(RUN, given === undefined ? { resume } : { code: given.code }, {
        signal,
        ownProgram: { input },
        onProgress: (progress) => line.show(progress),
      })
      .finally(() => line.clear());
    refusePaused(context, result);
    if (output.json) output.answer(result, () => '');
    else output.text(resultText(result));
    return result.isError ? EXIT_FAILED : 0;
  });
}

/** Reads a program: stdin for `-`, a saved one by its name, else a file. */
async function read(context: Context, source: string): Promise<Given> {
  if (source === '-') return { code: checkedCode(await readStdin(STDIN), 'stdin') };
  if (isProgramName(source)) return findProgram(context.home, source);
  return { code: checkedCode(await textOf(context, source), source) };
}

/** Parses the values for a program, with the types of its schema if it has one. */
async function inputOf(
  { output, cwd }: Context,
  schema: JsonObject | undefined,
  words: readonly string[],
  isStdinRead: boolean,
): Promise<Readonly<Record<string, unknown>>> {
  if (isStdinRead && words.some((word) => word === '-' || word.endsWith('=@-')))
    throw misuse('program', 'stdin has the program; it cannot also have its input');
  const parsed = await readInput(words, { stdin: STDIN, cwd });
  const input = toArguments(parsed, schema ?? {}, (message) => output.note(message), 'program');
  if (schema === undefined) return input;
  const [{ createArgumentChecker }, { argumentProblems }] = await Promise.all([
    import('../../call/argument-check.ts'),
    import('../../call/validate.ts'),
  ]);
  const problems = argumentProblems(input, { inputSchema: schema }, await createArgumentChecker());
  if (problems.length === 0) return input;
  throw new PlugboardError('INVALID_ARGUMENTS', `The input is not valid: ${problems.join('; ')}`, {
    hint: 'Give each value as key=value; plugboard program list --json has the schema of the input.',
  });
}

/** Without a person, a call that must be approved leaves the program frozen in the home. */
function refusePaused({ output }: Context, { structuredContent }: ShapedResult): void {
  if (!isRecord(structuredContent) || structuredContent['status'] !== 'paused') return;
  const { program: id, reasons } = structuredContent;
  const { questions } = output;
  const why = 'why' in questions ? ` (${questions.why})` : '';
  const resumed = joinArgv(['plugboard', 'program', 'run', '--resume', String(id), '--yes']);
  const shown = Array.isArray(reasons) ? reasons.join('; ') : '';
  throw new PlugboardError('APPROVAL_REQUIRED', `The program is paused: ${oneLine(shown)}`, {
    hint: `No one can be asked here${why}: ${resumed} approves and continues it.`,
  });
}

async function save(
  context: Context,
  { name, file }: { readonly name: string; readonly file: string },
  flags: Flags,
): Promise<number> {
  const { home, output } = context;
  const schemaFile = textFlag(flags, 'input');
  const text = file === '-' ? await readStdin(STDIN) : await textOf(context, file);
  const code = checkedCode(text, file === '-' ? 'stdin' : file);
  const input =
    schemaFile === undefined ? undefined : schemaIn(await textOf(context, schemaFile), schemaFile);
  const about = defined({ description: textFlag(flags, 'description'), input });
  const replaced = await saveProgram(home, { name, ...about, code, savedAt: new Date().toISOString() });
  output.answer(
    { name, file: savedFile(home, name), replaced },
    () =>
      `${output.paint.good(replaced ? 'Replaced' : 'Saved')} ${name}. Run it: plugboard program run ${name}`,
  );
  return 0;
}

async function list({ home, output }: Context): Promise<number> {
  const { programs, damaged } = await listPrograms(home);
  for (const file of damaged)
    output.note(`${output.notePaint.warn('warning:')} ${file} is not a saved program`);
  const documents = programs.map(({ code, ...rest }) => ({
    ...rest,
    characters: code.length,
    file: savedFile(home, rest.name),
  }));
  output.answer({ programs: documents }, () => {
    if (documents.length === 0)
      return 'There are no saved programs. Save one: plugboard program save <name> <file>';
    const rows = documents.map(({ name, description = '', savedAt }) => [
      name,
      oneLine(description),
      `saved ${savedAt.replace('T', ' ').replace(/\.\d+Z$/, '')}`,
    ]);
    return layOut(rows, { columns: [{}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
}

async function remove({ home, output }: Context, name: string): Promise<number> {
  await removeProgram(home, name);
  output.answer({ name, removed: true }, () => `${output.paint.good('Removed')} ${name}.`);
  return 0;
}

async function textOf({ cwd }: Context, file: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (cause) {
    throw new PlugboardError('USAGE', `${file} cannot be read (${errorCode(cause) ?? 'unknown reason'})`, {
      cause,
      hint: 'Give the path of a file, - for stdin, or the name of a saved program (plugboard program list).',
    });
  }
}

function schemaIn(text: string, file: string): JsonObject {
  const hint = 'Write a JSON Schema such as {"type":"object","properties":{"days":{"type":"integer"}}}.';
  const schema = parseJsonArgument(text, { what: file, hint });
  if (isRecord(schema) && (schema['type'] ?? 'object') === 'object') return schema;
  throw new PlugboardError('USAGE', `${file} is not the schema of an object`, { hint });
}
