/**
 * Describes all commands, flags and arguments as plain data. `scripts/bundle.mjs` writes it next to the bundles, so
 * that shell completion does not have to load any command.
 */

import { type Argument, Command, type Option } from 'commander';
import { ENTRY_KEYS } from '../../config/config-keys.ts';
import { AGENTS } from '../../config/import/agents.ts';
import { PRESETS } from '../../setup/preset-table.ts';
import { rows } from '../command-table.ts';
import { declareProgram, declareServerFlag } from '../program.ts';
import type { ArgumentKind, CommandWords, FlagWords, Vocabulary, Word } from './vocabulary.ts';

const AGENT_WORDS: readonly Word[] = AGENTS.map(({ id, title }) => ({ value: id, about: title }));
const PRESET_WORDS: readonly Word[] = PRESETS.map(({ id, title }) => ({ value: id, about: title }));

/** Descriptions of argument and flag choices whose names are not clear enough. */
const MEANINGS: Readonly<Record<string, string>> = {
  'daemon start': 'start it if it is not running',
  'daemon stop': 'stop it and its servers',
  'daemon restart': 'replace it; sessions move to the new one',
  'daemon status': 'show its sessions, servers and processes',
  'daemon run': 'stay in the foreground, for a service',
  'service install': 'start the daemon with your session',
  'service remove': 'remove the service',
  'service status': 'show whether it is installed and running',
  'plugin add': 'add the plugin in a folder',
  'plugin list': 'show plugins and their servers',
  'plugin remove': 'remove a plugin',
  'plugin enable': 'switch a plugin on',
  'plugin disable': 'switch a plugin off',
  'input list': 'show which inputs servers use',
  'input set': 'store a value',
  'input remove': 'delete a stored value',
  'profile list': 'show profiles and their clients',
  'profile show': 'show what a profile has now',
  'profile try': 'show what a call would lead to',
  'program run': 'run a program',
  'program save': 'save a program',
  'program list': 'show saved programs',
  'program remove': 'remove a saved program',
  'token add': 'create a token',
  'token list': 'show tokens',
  'token revoke': 'revoke a token',
  'init server': 'a project for a new server',
  '--scope local': 'only you, only in this project',
  '--scope project': 'everyone who works on this project (.mcp.json)',
  '--scope user': 'only you, in every project',
  '--transport stdio': 'a program that is started',
  '--transport http': 'an address (streamable HTTP)',
  '--transport sse': 'an address (HTTP+SSE of 2024)',
  '--approvals client': 'the agent asks its own user',
  '--approvals enforce': 'Plugboard asks, even if the agent does not',
};

/** Arguments whose values depend on the command; all others are recognised by name. */
const ARGUMENTS: Readonly<Record<string, ArgumentKind>> = {
  'add name': 'text',
  'add-json name': 'text',
  'prompt name': 'prompt',
  'prompt arguments': 'prompt-parameter',
  'call server': 'called-server',
  'call arguments': 'parameter',
  'tool server': 'called-server',
  'unset key': 'entry-key',
  'read uri': 'resource',
  'trust name': 'approvable-server',
  'enable name': 'disabled-server',
  'disable name': 'enabled-server',
  'login server': 'remote-server',
  'logout server': 'remote-server',
  'import source': { words: AGENT_WORDS, orFile: true },
  'input id': { byAction: { set: 'input', remove: 'input' } },
  'input server': { byAction: { set: 'server', remove: 'server' } },
  'plugin plugin': { byAction: { add: 'folder', remove: 'plugin', enable: 'plugin', disable: 'plugin' } },
  'profile name': { byAction: { show: 'profile', try: 'profile' } },
  'profile tool': { byAction: { try: 'spelled-tool' } },
  'program name': { byAction: { run: 'program', remove: 'program' } },
  'token name': { byAction: { revoke: 'token' } },
  'workspace root': 'folder',
};

const FLAGS: Readonly<Record<string, ArgumentKind>> = {
  'add --preset': { words: PRESET_WORDS },
  'audit --client': 'client',
  'audit --server': 'server',
  'export --profile': 'profile',
  'export --to': { words: AGENT_WORDS },
  'up --agent': { words: AGENT_WORDS },
  'serve --profile': 'profile',
  'token --profile': 'profile',
  'serve --approvals': wordsOf('--approvals', ['client', 'enforce']),
};

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
          flags: command.options.map((option) => flagOf(row.name, option)),
          arguments: command.registeredArguments.map((argument) => kindOf(row.name, argument)),
          repeats: command.registeredArguments.at(-1)?.variadic === true,
        };
      }),
  );
  const { options } = declareServerFlag(declareProgram('', () => {}));
  return { commands, flags: options.map((option) => flagOf('', option)) };
}

function flagOf(command: string, option: Option): FlagWords {
  const { short, long, description, required, optional } = option;
  return {
    names: [short, long].filter((name) => name !== undefined),
    about: description,
    ...(required || optional ? { value: flagValue(command, option) } : {}),
    ...(optional ? { optional } : {}),
  };
}

function flagValue(command: string, { long = '', flags, argChoices }: Option): ArgumentKind {
  const known = FLAGS[`${command} ${long}`];
  if (known !== undefined) return known;
  if (argChoices !== undefined) return wordsOf(long, argChoices);
  if (/<dir>/.test(flags)) return 'folder';
  return /<file>/.test(flags) ? 'file' : 'text';
}

function kindOf(command: string, argument: Argument): ArgumentKind {
  if (argument.argChoices !== undefined) return wordsOf(command, argument.argChoices);
  const known = ARGUMENTS[`${command} ${argument.name()}`];
  if (known !== undefined) return known;
  switch (argument.name()) {
    case 'server':
    case 'name':
      return 'server';
    case 'tool':
      return 'tool';
    case 'dir':
      return 'folder';
    case 'assignment':
      return { words: [...ENTRY_KEYS.keys()].map((key) => ({ value: `${key}=`, open: true })) };
    case 'file':
      return 'file';
    default:
      return 'text';
  }
}

function wordsOf(what: string, choices: readonly string[]): ArgumentKind {
  return {
    words: choices.map((value) => {
      const about = MEANINGS[`${what} ${value}`];
      return about === undefined ? { value } : { value, about };
    }),
  };
}
