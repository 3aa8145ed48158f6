/** `plugboard results`: lists, shows and deletes results that were stored because they were too long for a model. */

import { readFile } from 'node:fs/promises';
import { Argument } from 'commander';
import { partOfText } from '../../call/read-result.ts';
import { deleteRecord, listRecords, type ResultRecord } from '../../call/result-records.ts';
import { shapeOfText } from '../../call/result-summary.ts';
import { resultId } from '../../catalog/result-tool-definition.ts';
import { PlugboardError } from '../../errors.ts';
import { parseSelect } from '../../lib/jmespath/jmespath-select.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { layOut } from '../text-layout.ts';

const ACTIONS = ['list', 'show', 'clear'] as const;

export const results: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('[action]', 'action (default: list)').choices(ACTIONS))
      .argument('[id]', 'with show and clear: the id of a result, or its address')
      .option('--select <expression>', 'with show: a JMESPath expression, such as items[].id')
      .option('--lines <range>', 'with show: only these lines, as 10-40, 10- or 10')
      .option('--search <text>', 'with show: only lines that contain this text')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [action = 'list', id] = args;
    if (action === 'show') return show(context, id, flags);
    if (action === 'clear') return clear(context, id);
    if (id !== undefined) throw misuse('results', 'plugboard results list does not take an id');
    return list(context);
  },
};

const EXAMPLES = `
A result that is too long for a model is stored in outputs/ of the home folder, and the model gets its address. Its session
reads parts of it with the tool "result", and passes it on with {"$ref": "plugboard://result/<id>"} in arguments. Addresses
end with their session, after a day at the latest; files are deleted after seven days, or when they exceed 1 GiB.

Examples:
  plugboard results
  plugboard results show dGhlIHJlc3VsdCBp --select 'items[].id'
  plugboard results clear`;

async function list({ home, output }: Context): Promise<number> {
  const records = await listRecords(home.outputs);
  output.answer({ results: records }, () => {
    if (records.length === 0) return 'There are no stored results.';
    const rows = records.map(({ id, server, tool, bytes, tokens, client, session, storedAt }) => [
      id,
      oneLine(`${server} ${tool}`),
      `${bytes.toLocaleString('en')} bytes`,
      `about ${tokens.toLocaleString('en')} tokens`,
      oneLine(client ?? session),
      storedAt.replace('T', ' ').replace(/\.\d+Z$/, ''),
    ]);
    return layOut(rows, { columns: [{}, {}, {}, {}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
}

async function show(context: Context, given: string | undefined, flags: Flags): Promise<number> {
  if (given === undefined) throw misuse('results', 'plugboard results show needs the id of a result');
  const { output } = context;
  const [select, lines, search] = ['select', 'lines', 'search'].map((name) => textFlag(flags, name));
  const parsed = select === undefined ? undefined : parseSelect(select);
  const record = await found(context, given);
  const text = await readFile(record.file, 'utf8');
  const part = partOfText(text, { lines, search }, parsed);
  output.answer({ ...record, shape: shapeOfText(text), text: part }, () => clean(part));
  return 0;
}

async function clear(context: Context, given: string | undefined): Promise<number> {
  const { home, output } = context;
  const records = given === undefined ? await listRecords(home.outputs) : [await found(context, given)];
  for (const record of records) await deleteRecord(record);
  const count = records.length === 1 ? '1 stored result' : `${records.length} stored results`;
  output.answer({ deleted: records.map(({ id }) => id) }, () => `Deleted ${count}.`);
  return 0;
}

async function found({ home }: Context, given: string): Promise<ResultRecord> {
  const id = resultId(given);
  const record = (await listRecords(home.outputs)).find((each) => each.id === id);
  if (record !== undefined) return record;
  throw new PlugboardError('USAGE', `There is no stored result ${JSON.stringify(oneLine(given))}`, {
    hint: 'Run plugboard results to list them.',
  });
}
