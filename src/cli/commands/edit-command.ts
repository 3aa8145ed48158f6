/** `plugboard edit`: opens one server's entry in the person's editor and validates it before writing. */

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryText } from '../../config/edit-config.ts';
import { jsonOf, parseJsonc } from '../../config/jsonc.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import { joinArgv, splitArgv } from '../../lib/argv.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isRecord, type JsonObject } from '../../lib/json.ts';
import { confirm } from '../ask.ts';
import { changeEntry, type Found, findEntry } from '../change-entry.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { describeFailure } from '../report-failure.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const edit: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .addOption(scopeOption('scope of the entry, if several have one (default: the one in use)'))
      .option('--allow-secret', 'allow a plain-text secret in the shared .mcp.json')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = ''] = args;
    const found = await findEntry(context, name, scopeFlag(flags));
    if (!context.output.canAsk) throw noTerminal(name);
    const text = await entryText(found.target, name);
    if (text === undefined) throw new Error(`the entry of ${name} is not in ${found.target.file}`);
    // The entry may contain secrets, so it gets its own folder that only its owner can read.
    const folder = await mkdtemp(join(tmpdir(), 'plugboard-edit-'));
    const file = join(folder, `${name.replace(/[^\w.-]/g, '_')}.jsonc`);
    await writeFile(file, `${header(name, found)}${text}\n`, { mode: 0o600 });
    let isKept = false;
    try {
      return await editing(context, name, found, {
        file,
        before: text,
        allowSecret: flags['allowSecret'] === true,
      });
    } catch (thrown) {
      isKept = await isWorthKeeping(file, `${header(name, found)}${text}\n`);
      if (isKept) context.output.note(`Your text is kept in ${file}`);
      throw thrown;
    } finally {
      if (!isKept) await rm(folder, { recursive: true, force: true });
    }
  },
};

const EXAMPLES = `
Uses VISUAL or EDITOR, else vi. The saved entry is validated; if it is invalid, you can edit it again.
Without a terminal, use plugboard set.

Examples:
  plugboard edit files
  EDITOR='code --wait' plugboard edit files -s user`;

interface Session {
  readonly file: string;
  /** The entry before editing. */
  readonly before: string;
  readonly allowSecret: boolean;
}

async function editing(context: Context, name: string, found: Found, session: Session): Promise<number> {
  for (;;) {
    await runEditor(context, session.file);
    try {
      const saved = readSaved(await readFile(session.file, 'utf8'));
      const isSame = saved === undefined || saved.text === session.before;
      if (isSame || canonicalJson(saved.raw) + saved.text === canonicalJson(found.raw) + session.before) {
        context.output.answer({ name, changed: false }, () => `${name} was not changed.`);
        return 0;
      }
      const { raw, text } = saved;
      return await changeEntry(context, name, found, { raw, text, allowSecret: session.allowSecret });
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      if (error.code !== 'CONFIG_INVALID' && error.code !== 'USAGE') throw thrown;
      context.output.note(describeFailure(error, context.output));
      if (!(await confirm(context, 'Edit it again?', { initial: true }))) {
        throw new PlugboardError('USAGE', `Nothing was written for "${name}"`, { server: name });
      }
    }
  }
}

/** Parses the saved entry; undefined for an empty file, which changes nothing. */
function readSaved(content: string): { readonly raw: JsonObject; readonly text: string } | undefined {
  const { tree, fault } = parseJsonc(content);
  if (fault !== undefined) {
    const place = `line ${fault.line}, column ${fault.column}`;
    throw new PlugboardError('CONFIG_INVALID', `This is not valid JSON: ${fault.message} (${place})`);
  }
  if (tree === undefined) return undefined;
  const raw = jsonOf(tree);
  if (!isRecord(raw)) throw new PlugboardError('CONFIG_INVALID', 'An entry is a JSON object');
  return { raw, text: content.slice(tree.offset, tree.offset + tree.length).replaceAll('\r\n', '\n') };
}

function header(name: string, { target: { scope, file } }: Found): string {
  const place = `${scope} scope, ${file}`.replaceAll('\n', ' ');
  return `// ${JSON.stringify(name)} (${place}). Save and close to apply; empty the file to change nothing.\n`;
}

async function runEditor({ env }: Context, file: string): Promise<void> {
  const line = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  const [command = 'vi', ...args] = splitArgv(line);
  const child = spawn(command, [...args, file], { stdio: 'inherit' });
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? code));
  }).catch((cause: unknown) => {
    const why = errorCode(cause) === 'ENOENT' ? 'there is no such program' : errorCode(cause);
    throw new PlugboardError('USAGE', `The editor ${command} cannot be started: ${why}`, {
      hint: 'Set VISUAL or EDITOR to your editor, or use plugboard set.',
    });
  });
  if (status === 0) return;
  throw new PlugboardError(
    typeof status === 'number' ? 'USAGE' : 'CANCELLED',
    `The editor ${joinArgv([command])} ended with ${status}; nothing was written`,
    { hint: 'Set VISUAL or EDITOR to your editor, or use plugboard set.' },
  );
}

/** True if the person's edits would be lost. */
async function isWorthKeeping(file: string, before: string): Promise<boolean> {
  const now = await readFile(file, 'utf8').catch(() => before);
  return now !== before && now.trim() !== '';
}

function noTerminal(name: string): PlugboardError {
  return new PlugboardError('USAGE', 'There is no terminal for an editor', {
    server: name,
    hint: `Change single values with ${joinArgv(['plugboard', 'set', name])} key=value.`,
  });
}
