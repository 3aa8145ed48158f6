/** The tables of flags in docs/commands.md, from what the commands declare. */

import { Command } from 'commander';
import { rows } from '../../dist/cli/command-table.js';
import { declareProgram, declareServerFlag } from '../../dist/cli/program.js';
import { table } from './table.mjs';

/** For every command that has more than two flags of its own; one or two are told in a sentence. */
export async function flagTables() {
  const commands = await Promise.all(
    rows.map(async (row) => {
      const command = new Command(row.name);
      (await row.load()).configure(command);
      return [`flags of ${row.name}`, command.options];
    }),
  );
  const global = ['global flags', declareServerFlag(declareProgram('', () => {})).options];
  return Object.fromEntries([...commands, global].map(([name, options]) => [name, flagTable(options)]));
}

function flagTable(options) {
  const all = options.map(({ flags, description, argChoices }) => {
    const [words, ...value] = flags.split(/ (?=[<[])/);
    const names = words.split(', ').map((word, at, { length }) => {
      return at === length - 1 ? `\`${[word, ...value].join(' ')}\`` : `\`${word}\``;
    });
    const choices = argChoices === undefined ? '' : ` (${argChoices.map((one) => `\`${one}\``).join(', ')})`;
    return [names.join(', '), `${description}${choices}`];
  });
  return table([['flag', 'does'], ...all]);
}
