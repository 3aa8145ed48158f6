/** Converts commander's errors to our own messages, each with a hint. */

import type { Command, CommanderError } from 'commander';
import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { CommandRow } from './cli-command.ts';

/** Names of commands in other tools. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  rm: ['remove'],
  delete: ['remove'],
  del: ['remove'],
  uninstall: ['remove'],
  install: ['add'],
  new: ['add', 'init server'],
  ls: ['list'],
  ps: ['list', 'daemon status'],
  servers: ['list'],
  version: ['--version'],
  show: ['get', 'tools'],
  inspect: ['get', 'test'],
  describe: ['get', 'tools'],
  config: ['get', 'add', 'import'],
  configure: ['add', 'import'],
  run: ['call', 'program run', 'serve'],
  exec: ['call'],
  invoke: ['call'],
  find: ['search'],
  start: ['serve', 'daemon start'],
  stop: ['daemon stop'],
  restart: ['daemon restart'],
  check: ['doctor', 'test'],
  ping: ['test'],
  auth: ['login'],
  approve: ['trust'],
  allow: ['trust'],
  ui: ['dashboard'],
  web: ['dashboard'],
  setup: ['up'],
  update: ['pins', 'doctor'],
};

export function unknownCommand(word: string, rows: readonly CommandRow[]): PlugboardError {
  const names = rows.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias]));
  const others = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  const meant = others ?? nearest(word, names, 2);
  return usage(`Unknown command "${word}"`, [
    didYouMean(meant.map((name) => `plugboard ${name}`)),
    'Run plugboard --help to see all commands.',
  ]);
}

export function noCommand(): PlugboardError {
  return usage('No command was given', ['Run plugboard --help to see all commands.']);
}

/** Converts a commander error of one command, or of the global flags if no command was found. */
export function usageError(
  error: CommanderError,
  command: Command | undefined,
  rows: readonly CommandRow[],
): PlugboardError {
  const help = command === undefined ? 'plugboard --help' : `plugboard ${command.name()} --help`;
  const details = `Run ${help} for details.`;
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.help':
      return noCommand();
    case 'commander.unknownCommand':
      return unknownCommand(quoted, rows);
    case 'commander.unknownOption':
      return unknownOption(error, quoted, command, help);
    case 'commander.missingArgument':
      return usage(`Missing argument <${quoted}>`, [usageLine(command), details]);
    case 'commander.excessArguments': {
      const excess = command?.args[command.registeredArguments.length] ?? '';
      return usage(`Unexpected argument "${excess}"`, [usageLine(command), details]);
    }
    case 'commander.optionMissingArgument':
      return usage(`${quoted} needs a value`, [details]);
    case 'commander.missingMandatoryOptionValue':
      return usage(`${quoted} is required`, [details]);
    case 'commander.invalidArgument':
      return invalidChoice(error, details);
    default:
      return usage(sentence(error), [details]);
  }
}

function unknownOption(
  error: CommanderError,
  flag: string,
  command: Command | undefined,
  help: string,
): PlugboardError {
  const meant = /Did you mean (?:one of )?(.*)\?/.exec(error.message)?.[1];
  if (command?.name() === 'add' && meant === undefined) {
    // The most likely mistake: the flag belongs to the server's own command.
    return usage(`Unknown option "${flag}"`, [
      'Put flags of the server itself after --: plugboard add <name> -- <command> [args…].',
    ]);
  }
  return usage(`Unknown option "${flag}"`, [
    meant === undefined ? '' : `Did you mean ${meant}?`,
    `Run ${help} to see all options.`,
  ]);
}

/** Converts the error for an argument or flag whose value is not one of its choices. */
function invalidChoice(error: CommanderError, details: string): PlugboardError {
  const choices = /Allowed choices are (.*)\.$/.exec(error.message)?.[1]?.split(', ') ?? [];
  const argument = /value '(.*)' is invalid for argument '(.*?)'/.exec(error.message);
  const option = /option '(.*?)' argument '(.*)' is invalid/.exec(error.message);
  const value = argument?.[1] ?? option?.[2] ?? '';
  const flag = option?.[1]?.split(/[ ,]+/).find((word) => word.startsWith('--'));
  if (choices.length === 0 || (argument === null && flag === undefined)) {
    return usage(sentence(error), [details]);
  }
  const what =
    argument === null ? `Unknown value "${value}" for ${flag}.` : `Unknown ${argument[2]} "${value}".`;
  return usage(what, [`Use ${eitherOf(choices)}.`]);
}

function usageLine(command: Command | undefined): string {
  if (command === undefined) return '';
  const [first = ''] = command.usage().split('\n');
  return `Usage: plugboard ${command.name()} ${first.replace('[options] ', '').replace(/^\[options\]$/, '')}`
    .trimEnd()
    .concat('.');
}

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `Did you mean ${eitherOf(names)}?`;
}

function eitherOf(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function sentence({ message }: CommanderError): string {
  const [first = ''] = message.replace(/^error: /, '').split('\n');
  return `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.!?]$/.test(first) ? '' : '.'}`;
}

function usage(message: string, hints: readonly string[]): PlugboardError {
  return new PlugboardError('USAGE', message, { hint: hints.filter((hint) => hint !== '').join(' ') });
}
