/**
 * All commands with their flags and what their arguments are, as plain data. `scripts/bundle.mjs` writes it beside the
 * bundles, so that the completion of a shell need not load a single command to know.
 */

import { type Argument, Command, type Option } from 'commander';
import { ENTRY_KEYS } from '../../config/keys.ts';
import { rows } from '../commands.ts';
import { declareProgram } from '../program.ts';
import type { ArgumentKind, CommandWords, FlagWords, Vocabulary } from './vocabulary.ts';

/** Commands whose `<name>` is not that of a server which is there. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['add', 'add-json', 'prompt', 'plugin']);

export async function commandWords(): Promise<Vocabulary> {
  const commands = await Promise.all(
    rows
      .filter(({ hidden }) => hidden !== true)
      .map(async (row): Promise<CommandWords> => {
        const command = new Command(row.name);
        (await row.load()).configure(command);
        return {
          name: row.name,
          ...(row.alias === undefined ? {} : { alias: row.alias }),
          about: row.summary,
          flags: command.options.map(flagOf),
          arguments: command.registeredArguments.map((argument) => kindOf(row.name, argument)),
          repeats: command.registeredArguments.at(-1)?.variadic === true,
        };
      }),
  );
  const { options } = declareProgram('', () => {});
  return { commands, flags: options.map(flagOf) };
}

function flagOf({ short, long, description, argChoices, flags, required, optional }: Option): FlagWords {
  const takesFolder = /<dir>/.test(flags);
  const takesFile = /<file>/.test(flags);
  return {
    names: [short, long].filter((name) => name !== undefined),
    about: description,
    ...(required || optional
      ? { value: takesFolder ? 'folder' : takesFile ? 'file' : (argChoices ?? 'text') }
      : {}),
    ...(optional ? { optional } : {}),
  };
}

function kindOf(command: string, argument: Argument): ArgumentKind {
  if (argument.argChoices !== undefined) return argument.argChoices;
  switch (argument.name()) {
    case 'server':
      return 'server';
    case 'name':
      return OTHER_NAMES.has(command) ? 'text' : 'server';
    case 'tool':
      return 'tool';
    case 'arguments':
      return command === 'call' ? 'parameter' : 'text';
    case 'dir':
      return 'folder';
    case 'assignment':
      return [...ENTRY_KEYS.keys()].map((key) => `${key}=`);
    case 'key':
      return [...ENTRY_KEYS.keys()];
    default:
      return 'text';
  }
}
