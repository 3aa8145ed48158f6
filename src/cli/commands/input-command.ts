/** `plugboard input`: manages the answers to `${input:id}`, which are not stored in configuration files. */

import { Argument } from 'commander';
import type { InputQuestion } from '../../config/entry.ts';
import { inputOwner } from '../../config/inputs.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { didYouMean } from '../../config/unknown-server.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { nearest } from '../../lib/nearest.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { unusedInputs, usedInputs } from '../../setup/input-list.ts';
import { findServer } from '../../setup/known-server.ts';
import { askForChoice, askForSecret } from '../ask.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { readStdin } from '../read-stdin.ts';
import { openInputs } from '../settle-inputs.ts';
import { layOut } from '../text-layout.ts';

const ACTIONS = ['list', 'set', 'remove'] as const;

export const input: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
      .argument('[id]', 'the id, as in ${input:id}')
      .argument('[server]', 'the server, if several owners use the same id')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [action = '', id, server] = args;
    const config = await loadEffective(context);
    if (action === 'list') return list(context, config);
    if (id === undefined) {
      throw new PlugboardError('USAGE', `plugboard input ${action} needs an id`, {
        hint: 'Run plugboard input list to see which ids servers use.',
      });
    }
    const question = await choose(context, config, { id, server, action });
    return action === 'set' ? set(context, question) : remove(context, question);
  },
};

const EXAMPLES = `
The value is typed at the terminal without being shown, or read from stdin. It is not taken from the command line,
where other users could see it. It is stored in the system's keyring, else in a file that only you can read.

Examples:
  plugboard input list
  plugboard input set github-token
  pass show github | plugboard input set github-token`;

async function list(context: Context, config: LoadedConfig): Promise<number> {
  const { output } = context;
  const store = openInputs(context);
  const used = usedInputs(config);
  const unused = await unusedInputs(store, used, context.home);
  const inputs = await Promise.all(
    [...used, ...unused].map(async ({ id, owner, servers, description, password }) => ({
      id,
      ...(owner === '' ? {} : { owner }),
      servers,
      ...(description === undefined ? {} : { description }),
      password,
      kept: (await store.place({ id, owner })) ?? null,
    })),
  );
  output.answer({ inputs }, () => {
    if (inputs.length === 0) return 'No server uses ${input:id}.';
    const rows = inputs.map(({ id, servers, description = '', kept }) => [
      oneLine(id),
      kept === null ? 'not set' : kept,
      servers.length === 0 ? 'not used by any server' : oneLine(servers.join(', ')),
      oneLine(description),
    ]);
    return layOut(rows, { columns: [{}, {}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
}

async function set(context: Context, question: InputQuestion): Promise<number> {
  const { output, home } = context;
  const value = output.canAsk
    ? await asked(context, question)
    : (await readStdin(process.stdin)).replace(/\r?\n$/, '');
  if (value === '') {
    throw new PlugboardError('USAGE', `No value was given for ${question.id}`, {
      hint: `Type it at a terminal, or pipe it in: … | plugboard input set ${shellWord(question.id)}`,
    });
  }
  const { options = [] } = question;
  if (options.length > 0 && !options.includes(value)) {
    throw new PlugboardError('USAGE', `${question.id} must be one of its options`, {
      hint: `The options are ${options.map((option) => oneLine(option)).join(', ')}.`,
    });
  }
  const kept = await openInputs(context).set(question, value);
  const owner = question.owner === '' ? {} : { owner: question.owner };
  output.answer({ id: question.id, ...owner, kept }, () => {
    return `${output.paint.good('Saved')} ${question.id} to ${kept === 'file' ? home.credentials : 'the keyring'}.`;
  });
  return 0;
}

function asked(context: Context, { id, description, options = [] }: InputQuestion): Promise<string> {
  const message = description ?? id;
  return options.length > 0 ? askForChoice(context, message, options) : askForSecret(context, message);
}

async function remove(context: Context, question: InputQuestion): Promise<number> {
  const removed = await openInputs(context).remove(question);
  context.output.answer({ id: question.id, removed }, () =>
    removed ? `Deleted ${question.id}.` : `No value is stored for ${question.id}; nothing was deleted.`,
  );
  return 0;
}

async function choose(
  context: Context,
  config: LoadedConfig,
  {
    id,
    server,
    action,
  }: { readonly id: string; readonly server: string | undefined; readonly action: string },
): Promise<InputQuestion> {
  const owner = server === undefined ? undefined : inputOwner(findServer(config, server));
  const used = usedInputs(config);
  const unused = owner === undefined ? await unusedInputs(openInputs(context), used, context.home) : [];
  const [left, ...more] = unused.filter((each) => each.id === id);
  const matching = used.filter((each) => each.id === id && (owner === undefined || each.owner === owner));
  const [only, other] = matching;
  if (only !== undefined && other === undefined) return only;
  if (only !== undefined) {
    throw new PlugboardError('USAGE', `Servers of different owners use ${id}, each with its own value`, {
      hint: `Name the server: ${matching.map(({ servers }) => joinArgv(['plugboard', 'input', action, id, servers[0] ?? ''])).join(', or ')}.`,
    });
  }
  if (left !== undefined) {
    const here = [left, ...more].find((each) => each.owner === config.projectRoot || each.owner === '');
    return here ?? left;
  }
  const near = nearest(
    id,
    used.map((each) => each.id),
  );
  throw new PlugboardError(
    'USAGE',
    `No server uses \${input:${id}}${action === 'remove' ? ', and no value is stored for it' : ''}`,
    {
      hint: near.length > 0 ? didYouMean(near) : 'Run plugboard input list to see which ids servers use.',
    },
  );
}
