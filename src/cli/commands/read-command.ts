/** `plugboard read`: prints a resource. Text goes to stdout, cleaned; bytes go to a file or a pipe, unchanged. */

import { resolve } from 'node:path';
import type { ResourceContents } from '../../catalog/accept-result.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { clean } from '../../policy/clean.ts';
import { askingDuring } from '../call-questions.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { writeTo } from '../result-output.ts';
import { withHost } from '../with-host.ts';

export const read: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .argument('<uri>', 'uri of the resource')
      .option('-o, --output <file>', 'write the content to this file, byte for byte')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [server = '', uri = ''] = args;
    const { output, signal, cwd } = context;
    const file = textFlag(flags, 'output');
    return withHost(context, { servers: [server], ...askingDuring(context) }, async ({ host }) => {
      const { contents } = await host.read(server, uri, { signal, forModel: false });
      if (file !== undefined) await writeTo(context, resolve(cwd, file), bytesOf(contents));
      if (output.json) output.answer({ contents }, () => '');
      else if (file === undefined) await print(contents, context, { server, uri });
      return 0;
    });
  },
};

const EXAMPLES = `
Text is printed without control characters; -o writes it unchanged. Binary content needs -o or a pipe.

Examples:
  plugboard read docs file:///README.md
  plugboard read shots screen://latest -o latest.png`;

async function print(
  contents: readonly ResourceContents[],
  { output }: Context,
  { server, uri }: { readonly server: string; readonly uri: string },
): Promise<void> {
  const binary = contents.find((part) => 'blob' in part);
  if (binary === undefined) {
    for (const part of contents) {
      const text = 'text' in part ? clean(part.text) : '';
      output.write(text.endsWith('\n') ? text : `${text}\n`);
    }
  } else if (output.columns !== undefined) {
    throw new PlugboardError(
      'USAGE',
      `${uri} is binary (${kindOf(binary)}) and cannot be printed on a terminal`,
      {
        server,
        hint: `Write it to a file: ${joinArgv(['plugboard', 'read', server, uri])} -o FILE`,
      },
    );
  } else await toPipe(bytesOf(contents));
}

/** A reader that closes the pipe early is not an error. */
function toPipe(bytes: Buffer): Promise<void> {
  return new Promise((done) => {
    process.stdout.once('error', () => done());
    process.stdout.write(bytes, () => done());
  });
}

/** Joins text parts; rejects several parts if one is binary, because the joined bytes would be invalid. */
function bytesOf(contents: readonly ResourceContents[]): Buffer {
  if (contents.length > 1 && contents.some((part) => 'blob' in part)) {
    throw new PlugboardError('USAGE', `The resource has ${contents.length} parts, some of them binary`, {
      hint: 'Use --json, which prints each part with its address.',
    });
  }
  return Buffer.concat(
    contents.map((part) => ('text' in part ? Buffer.from(part.text) : Buffer.from(part.blob, 'base64'))),
  );
}

function kindOf({ mimeType = 'of unknown type' }: ResourceContents): string {
  return clean(mimeType, { multiline: false, max: 100 });
}
