/** Runs git for the tools: on the project's own repository, and without running programs that the repository names. */

import { delimiter } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import type { Ended } from './child-processes.ts';
import { type ConfigEntry, isHookSetting, ownPrograms, parseConfigList, SAFE_CONFIG } from './git-config.ts';
import { checkRepository } from './git-repository.ts';
import { foldersOutside } from './programs.ts';
import type { Call, Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

const GIT_MS = 60_000;
const MAX_SETUP_BYTES = 1024 * 1024;
const MAX_COMPLAINT_CHARS = 1_000;
/** The user's own settings, which a project cannot override. */
const KEPT_VARIABLES =
  /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$|^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|^GIT_CEILING_DIRECTORIES$/;

export interface GitRun {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly cwd?: string;
  readonly input?: string;
  /** The command changes the repository: it takes locks, and hooks run if programs of the project may run. */
  readonly writes?: boolean;
}

export class Git {
  /** The top of the working tree: the root of the project or a parent folder. */
  readonly top: string;
  readonly #workspace: Workspace;
  readonly #config: readonly ConfigEntry[];

  private constructor(workspace: Workspace, top: string, config: readonly ConfigEntry[]) {
    this.#workspace = workspace;
    this.top = top;
    this.#config = config;
  }

  /** Rejects if git is missing, the project is not a repository, or the repository belongs to another project. */
  static async open(workspace: Workspace, { signal }: Pick<Call, 'signal'>): Promise<Git> {
    const { root } = workspace;
    if (workspace.programs.git === undefined) {
      throw new PlugboardError('START_FAILED', 'git is not installed', {
        hint: 'Install git to use this tool.',
      });
    }
    // Neither of the two commands runs a program that a repository can name.
    const bare = new Git(workspace, root.path, []);
    const setup = { signal, maxBytes: MAX_SETUP_BYTES };
    const wanted = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir'];
    const found = await bare.run(['rev-parse', '--path-format=absolute', ...wanted], setup);
    if (found.code !== 0) throw complaintOf(found);
    const [top = '', gitDir = '', commonDir = ''] = found.stdout.toString('utf8').split('\n');
    const listed = await bare.answer(['config', '--null', '--show-scope', '--list'], setup);
    const entries = parseConfigList(listed);
    checkRepository(root, { top, gitDir, commonDir, entries });
    return new Git(workspace, top, ownPrograms(entries));
  }

  /** Runs git and returns its result, also on failure. */
  run(args: readonly string[], options: GitRun): Promise<Ended> {
    const { children, programs, root } = this.#workspace;
    return children.run({
      program: programs.git ?? 'git',
      args: ['--no-pager', '--literal-pathspecs', ...args],
      cwd: options.cwd ?? root.path,
      env: this.#environment(options.writes === true),
      signal: options.signal,
      timeoutMs: GIT_MS,
      maxBytes: options.maxBytes,
      ...(options.input === undefined ? {} : { input: options.input }),
    });
  }

  /** Returns git's output; rejects with git's own message on failure. */
  async answer(args: readonly string[], options: GitRun): Promise<string> {
    const ended = await this.run(args, options);
    if (ended.code !== 0) throw complaintOf(ended);
    return ended.stdout.toString('utf8');
  }

  /** Resolves a revision to a commit hash, which git cannot interpret as an option. */
  async commitOf(revision: string, options: GitRun): Promise<string> {
    const bad = badPath(`${JSON.stringify(revision)} names no commit`, 'Use git_log to see the commits.');
    if (revision.startsWith('-') || revision.includes('\0')) throw bad;
    const { code, stdout } = await this.run(
      ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`],
      options,
    );
    if (code !== 0) throw bad;
    return stdout.toString('utf8').trim();
  }

  /** Returns the paths for git; without any, the project, because its repository may be larger. */
  pathspec(paths: readonly string[] | undefined): readonly string[] {
    const { root } = this.#workspace;
    if (paths === undefined || paths.length === 0) return this.top === root.path ? [] : ['.'];
    return paths.map((path) => root.lexical(path) || '.');
  }

  #environment(writes: boolean): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('GIT_') || KEPT_VARIABLES.test(name),
    );
    const runsHooks = writes && this.#workspace.shell;
    const config = [...SAFE_CONFIG, ...this.#config].filter(([key]) => !(runsHooks && isHookSetting(key)));
    return {
      ...Object.fromEntries(own),
      // Programs that git itself runs, for the user's signatures and filters, must not come from the project either.
      PATH: foldersOutside(this.#workspace.root, process.env['PATH'] ?? '').join(delimiter),
      ...Object.fromEntries(
        config.flatMap(([key, value], at) => [
          [`GIT_CONFIG_KEY_${at}`, key],
          [`GIT_CONFIG_VALUE_${at}`, value],
        ]),
      ),
      GIT_CONFIG_COUNT: String(config.length),
      // A repository may require objects that must be fetched, from a URL that is a command.
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_NO_LAZY_FETCH: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: ':',
      GIT_ATTR_NOSYSTEM: '1',
      LC_ALL: 'C',
      ...(writes ? {} : { GIT_OPTIONAL_LOCKS: '0' }),
    };
  }
}

function complaintOf({ stderr, stdout, timedOut }: Ended): Error {
  if (timedOut) return new PlugboardError('TIMEOUT', `git took longer than ${GIT_MS} ms`);
  const words = stderr.toString('utf8').trim() || stdout.toString('utf8').trim();
  const text = clean(words.replace(/^(fatal|error): /, ''), { max: MAX_COMPLAINT_CHARS });
  return new PlugboardError('INVALID_ARGUMENTS', `git: ${text || 'it failed without a word'}`);
}
