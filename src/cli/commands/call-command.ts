/** `plugboard call`: calls one tool with arguments from the command line and prints its result. */

import type { Tool } from '../../catalog/tool.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { aborted } from '../../lib/waits.ts';
import { pinChanged } from '../../policy/pins-refusal.ts';
import { findServer } from '../../setup/known-server.ts';
import { readInput, toArguments } from '../call-arguments.ts';
import { askingDuring } from '../call-questions.ts';
import { calledTool, findTool, refuseHidden } from '../call-target.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { milliseconds, misuse } from '../flags.ts';
import type { Output } from '../output.ts';
import { ProgressLine } from '../progress-line.ts';
import { resultText, saveImages, saveResult } from '../result-output.ts';
import { type CommandHost, withHost } from '../with-host.ts';

/** Opened on the first read: creating the stream takes time, and it would keep the terminal busy. */
const STDIN: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() };

/** Exit status if the tool returned an error. */
const EXIT_TOOL_ERROR = 1;

export const call: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server; or the server and the tool in one word: server.tool, server__tool')
      .argument('[tool]', 'name of the tool on its server')
      .argument(
        '[arguments...]',
        "key=value, --key value, key:=json, key=@file, one '{json}' object, or - for JSON on stdin",
      )
      // Flags for the tool are parsed with its schema.
      .allowUnknownOption()
      .option('--timeout <ms>', 'maximum time without output or progress, in milliseconds')
      .option('--background', 'do not wait: print the id of a task, for plugboard tasks')
      .option('-y, --yes', 'approve the call without asking')
      .option('--limit', 'clean and truncate the result as for a model')
      .option(
        '--select <expression>',
        'print only this part of the result: a JMESPath expression, such as items[].id',
      )
      .option(
        '-o, --output <file>',
        'write the result to this file: its binary content if it has any, else its text',
      )
      .option('--save-images <dir>', 'write images, audio and other binary content into this folder')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { servers, name, words } = await calledTool(context, args);
    const { output, signal, cwd } = context;
    const timeout = textFlag(flags, 'timeout');
    const timeoutMs = timeout === undefined ? undefined : milliseconds('--timeout', timeout);
    const input = await Promise.race([readInput(words, { stdin: STDIN, cwd }), aborted(signal)]);
    const forModel = flags['limit'] === true;
    const line = new ProgressLine(output, name);
    const asking = askingDuring(context, { yes: flags['yes'] === true, before: () => line.clear() });
    // The list of an earlier start mostly still applies, and a check is used only for the definition it was made for.
    const prepare = (host: CommandHost): void => {
      for (const server of servers) host.prepareCall(server, name);
    };
    const isBackground = flags['background'] === true;
    if (isBackground) checkBackground(context, flags);
    return withHost(context, { servers, ...asking, forModel, prepare }, async ({ host, config }) => {
      for (const server of servers) if (host.isHeld(server, name)) throw pinChanged(server, name);
      for (const server of servers) refuseHidden(host, findServer(config, server), name);
      const tool = findTool(host, { servers, name }, host.tools());
      const given = toArguments(input, tool.inputSchema, (message) => output.note(message));
      const options = { signal, timeoutMs, select: textFlag(flags, 'select') };
      if (isBackground) {
        const { id } = await host
          .call(tool.name, given, { ...options, background: true })
          .catch((thrown: unknown) => explain(thrown, { output, timeoutMs, tool }));
        output.answer({ task: id }, () => `${id}\n${output.paint.faint(`plugboard tasks watch ${id}`)}`);
        return 0;
      }
      const result = await host
        .call(tool.name, given, { ...options, onProgress: (progress) => line.show(progress) })
        .catch((thrown: unknown) => explain(thrown, { output, timeoutMs, tool }))
        .finally(() => line.clear());
      const [file, folder] = [textFlag(flags, 'output'), textFlag(flags, 'saveImages')];
      if (folder !== undefined) await saveImages(context, result, folder);
      if (file !== undefined) await saveResult(context, result, file);
      if (output.json) output.answer(result, () => '');
      else if (file === undefined) output.text(resultText(result));
      return result.isError ? EXIT_TOOL_ERROR : 0;
    });
  },
};

const EXAMPLES = `
A value of key=value is converted to the type that the tool declares: a number, true or false, else text.

Examples:
  plugboard call demo echo message=hi
  plugboard call demo get-sum a:=2 b:=3 --json
  plugboard call demo.echo --message hi
  plugboard call files read_multiple_files paths=a.txt paths=b.txt
  plugboard call files write_file path=notes.md content=@draft.md
  plugboard call shots take -o shot.png
  plugboard call --background reports build year=2026
  plugboard call github list_issues repo=x --select '[].{number: number, title: title}'
  echo '{"path":"."}' | plugboard call files list_directory -`;

/** A call in the background belongs to the daemon: the process of the command ends before it. */
function checkBackground({ openHost }: Context, flags: Flags): void {
  for (const [name, flag] of [
    ['output', '-o'],
    ['saveImages', '--save-images'],
  ] as const)
    if (textFlag(flags, name) !== undefined)
      throw misuse('call', `${flag} cannot be used with --background: the result is not there yet`);
  if (openHost !== undefined) return;
  throw new PlugboardError(
    'USAGE',
    'plugboard call --background runs in the daemon, which cannot be used here',
    {
      hint: 'Add --yes if the call needs an approval. Leave out --server and arguments from stdin; "daemon": false in config.json and PLUGBOARD_DAEMON=0 switch it off.',
    },
  );
}

/** Adds hints for the command line, where the way to answer and to wait longer is a flag. */
function explain(
  thrown: unknown,
  {
    output,
    timeoutMs,
    tool,
  }: { readonly output: Output; readonly timeoutMs: number | undefined; readonly tool: Tool },
): never {
  if (!(thrown instanceof PlugboardError)) throw thrown;
  const { code, message, server, detail } = thrown;
  if (code === 'APPROVAL_REQUIRED') {
    const { questions } = output;
    const why = 'why' in questions ? ` (${questions.why})` : '';
    const hint = `No one can be asked here${why}: add --yes to answer yes.`;
    throw new PlugboardError(code, message, { server, cause: thrown, hint });
  }
  // The hint for models names a key that people do not see.
  if (code === 'INVALID_ARGUMENTS' && thrown.hint?.includes('inputSchema') === true) {
    const hint = `Run ${joinArgv(['plugboard', 'tool', tool.server, tool.tool])} to see its arguments.`;
    throw new PlugboardError(code, message, { server, detail, cause: thrown, hint });
  }
  if (code === 'TIMEOUT' && timeoutMs !== undefined) {
    const hint = 'Give a larger --timeout, in milliseconds.';
    throw new PlugboardError(code, message, { server, detail, cause: thrown, hint });
  }
  throw thrown;
}
