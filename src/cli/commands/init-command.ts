/** `plugboard init`: creates a server project that is ready to be built and tested. */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Argument } from 'commander';
import { PlugboardError } from '../../errors.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isRecord } from '../../lib/json.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';

export const init: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<what>', 'kind of project to create').choices(['server']))
      .argument('<dir>', 'new or empty folder')
      .option('--name <name>', "name of the server (default: the folder's name)")
      .addHelpText('after', EXAMPLE);
  },

  async run({ cwd, output }: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [, dir = ''] = args;
    const folder = resolve(cwd, dir);
    const { name, files } = await writeServerProject(folder, textFlag(flags, 'name'));
    const shown = relative(process.cwd(), folder) || '.';
    const next = [
      ...(shown === '.' ? [] : [`cd ${shellWord(shown)}`]),
      'npm install',
      'npm test',
      'npm run try',
    ];
    output.answer({ name, folder, files, next }, () =>
      [
        `${output.paint.strong(name)} is in ${shown}:`,
        ...files.map((file) => `  ${file}`),
        '',
        'Next:',
        ...next.map((step) => `  ${step}`),
      ].join('\n'),
    );
    return 0;
  },
};

const EXAMPLE = `
Example:
  plugboard init server weather`;

const TEMPLATES: URL = new URL('../../../assets/init-server/', import.meta.url);
const MANIFEST: URL = new URL('../../../package.json', import.meta.url);
const SUFFIX = '.template';
const FOLDER_MODE = 0o755;
/** Valid npm package name without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Creates a project for a new server: its files and their contents. */
interface ServerProject {
  readonly name: string;
  /** Paths relative to the project's folder. */
  readonly files: readonly string[];
}

/** Writes a project into a folder that is empty or does not exist. */
async function writeServerProject(folder: string, wanted: string | undefined): Promise<ServerProject> {
  const name = wanted ?? nameFrom(folder);
  if (!NAME.test(name)) {
    throw new PlugboardError('USAGE', `${JSON.stringify(name)} cannot be the name of a package`, {
      hint: 'Use lowercase letters, digits, dots and dashes.',
    });
  }
  await checkEmpty(folder);
  const contents = new Map([['package.json', await manifestOf(name)]]);
  const templates = await readdir(TEMPLATES, { recursive: true });
  for (const template of templates.filter((file) => file.endsWith(SUFFIX)).sort()) {
    const text = await readFile(new URL(template.replaceAll('\\', '/'), TEMPLATES), 'utf8');
    contents.set(template.slice(0, -SUFFIX.length), text.replaceAll('{{name}}', name));
  }
  for (const [file, text] of contents) await write(join(folder, file), text);
  return { name, files: [...contents.keys()] };
}

function nameFrom(folder: string): string {
  const plain = basename(folder)
    // Replaces accented letters with plain ones.
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '');
  return plain === '' ? 'server' : plain;
}

async function checkEmpty(folder: string): Promise<void> {
  let found: readonly string[];
  try {
    found = await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw unwritable(folder, error);
  }
  if (found.length === 0) return;
  throw new PlugboardError('USAGE', `${folder} is not empty`, {
    hint: 'Name a new folder: nothing that exists is overwritten.',
  });
}

/** The version ranges are those of this package's own manifest. */
async function manifestOf(name: string): Promise<string> {
  const own: unknown = JSON.parse(await readFile(MANIFEST, 'utf8'));
  const { version, engines, dependencies, devDependencies } = isRecord(own) ? own : {};
  const rangeOf = (ranges: unknown, of: string): unknown => (isRecord(ranges) ? ranges[of] : undefined);
  const manifest = {
    name,
    version: '0.1.0',
    description: 'An MCP server.',
    private: true,
    type: 'module',
    engines,
    bin: { [name]: 'dist/main.js' },
    files: ['dist', '!dist/*.test.*'],
    scripts: {
      build: 'tsc',
      test: 'tsc && node --test dist/server.test.js',
      try: `tsc && plugboard test ${name} --server "${name}=node dist/main.js"`,
      start: 'node dist/main.js',
      'start:http': 'node dist/http.js',
    },
    dependencies: { '@plugboard/kit': `^${String(version)}`, zod: rangeOf(dependencies, 'zod') },
    devDependencies: {
      '@types/node': rangeOf(devDependencies, '@types/node'),
      // Only `npm run try` needs it: a deployed server consists of the kit and zod.
      plugboard: `^${String(version)}`,
      typescript: rangeOf(devDependencies, 'typescript'),
    },
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

async function write(file: string, text: string): Promise<void> {
  try {
    await makeFolder(dirname(file), FOLDER_MODE);
    // Fails if the file was created by another process in between.
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(path: string, error: unknown): PlugboardError {
  const reason = error instanceof Error ? error.message : String(error);
  return new PlugboardError('CONFIG_UNWRITABLE', `${path} cannot be written: ${reason}`, {
    hint: 'Choose a folder that you can write to.',
    cause: error,
  });
}
