/** `plugboard pins`: shows definitions on hold because they changed, with the differences, and accepts them. */

import type { ServerSpec } from '../../config/entry.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { pinKey } from '../../policy/pins.ts';
import { acceptCommand } from '../../policy/pins-refusal.ts';
import { acceptPins, type HeldTool, reviewPins } from '../../policy/pins-review.ts';
import { findServer } from '../../setup/known-server.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { indent } from '../text-layout.ts';
import { openHost } from '../with-host.ts';

export const pins: CliCommand = {
  configure(command): void {
    command
      .argument('[server]', 'only this server')
      .argument('[tool]', 'only this tool, prompt or resource')
      .option('--accept', 'accept tools that are on hold as they are now')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { home, output } = context;
    const [server, name] = args;
    const chosen = await choose(context, server);
    const keys = chosen.map(pinKey);
    const accept = flags['accept'] === true;
    const isMeant = (shown: string): boolean => name === undefined || shown === name;
    const review = async (): Promise<readonly HeldTool[]> => {
      const all = await reviewPins(home, keys);
      if (accept && name !== undefined) checkIdentity(all, server ?? '', name);
      return all.filter(({ tool }) => isMeant(tool));
    };
    // Servers are only contacted if nothing is on hold yet, so that `--accept` accepts the definitions shown before.
    let held = accept ? await review() : [];
    if (held.length === 0) {
      await lookAgain(context, chosen);
      held = await review();
    }
    if (accept) await acceptPins(home, keys, isMeant);
    output.answer({ held: accept ? [] : held, ...(accept ? { accepted: held } : {}) }, () =>
      listing(held, accept, { output, server, name }),
    );
    return 0;
  },
};

const EXAMPLES = `
The definitions of a server (tools, prompts, resources, instructions, its name) are remembered when it is first seen.
A definition that is added or changed later is put on hold until you accept it: for remote servers, for those of a
project, and for your own programs if their entry has "pins": "hold".

Examples:
  plugboard pins                        show what is on hold, and what changed
  plugboard pins docs search --accept   accept this tool as it is now
  plugboard pins docs --accept          accept everything that is on hold in docs`;

/** If a different server answers, all its definitions are on hold and can only be accepted together. */
function checkIdentity(held: readonly HeldTool[], server: string, name: string): void {
  const isOther = held.some(({ kind }) => kind === 'identity');
  if (!isOther || held.every(({ tool, kind }) => tool !== name || kind === 'identity')) return;
  throw new PlugboardError(
    'PIN_CHANGED',
    `A different server now responds as ${server}, so ${name} cannot be accepted alone`,
    { server, hint: `Review all of it, then run ${acceptCommand(server)}.` },
  );
}

async function choose(context: Context, name: string | undefined): Promise<readonly ServerSpec[]> {
  const config = await loadEffective(context);
  return name === undefined ? config.servers : [findServer(config, name)];
}

/** Connects to the servers that may run, so that their current lists are compared with the pins. */
async function lookAgain(context: Context, chosen: readonly ServerSpec[]): Promise<void> {
  const names = chosen.map(({ name }) => name);
  await openHost(context, { servers: names, connect: 'none' }, async ({ host }) => {
    const ready = host.servers().filter(({ status }) => status === 'idle');
    // A server that cannot be reached has no new lists; its definitions on hold stay on hold.
    await Promise.allSettled(
      ready.map(async ({ name }) => {
        await host.connect(name);
        await Promise.allSettled([host.resources(name), host.prompts(name)]);
      }),
    );
    return 0;
  });
}

/** `server`: the server given as argument. */
function listing(
  held: readonly HeldTool[],
  accepted: boolean,
  {
    output,
    server: asked,
    name,
  }: { readonly output: Output; readonly server: string | undefined; readonly name: string | undefined },
): string {
  if (held.length === 0) return 'Nothing is on hold.';
  const { paint } = output;
  const blocks = held.map(({ server, tool, kind, diff }) => {
    const what = kind === undefined || tool.startsWith('(') ? '' : `${kind} `;
    const head = `${what}${paint.strong(oneLine(tool))} of ${oneLine(server)}`;
    return `${head}\n${indent(painted(diff, output), '  ')}`;
  });
  const [only, ...others] = new Set(held.map(({ server }) => server));
  const named = asked ?? (others.length === 0 ? only : undefined);
  const end = accepted
    ? `${paint.good('Accepted')}: ${held.length === 1 ? 'it is' : 'they are'} used as shown above.`
    : `Accept with: ${joinArgv(['plugboard', 'pins', ...[named, name].filter((word) => word !== undefined), '--accept'])}`;
  return [...blocks, end].join('\n');
}

function painted(diff: string, { paint }: Output): string {
  const lines = diff.split('\n');
  return lines
    .map((line) =>
      line.startsWith('+ ') ? paint.good(line) : line.startsWith('- ') ? paint.bad(line) : line,
    )
    .join('\n');
}
