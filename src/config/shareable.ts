/** Detects servers that keep the state of one session in their process, so that sessions must not share it. */

import { getOrMake } from '../lib/get-or-make.ts';
import { isStdio, type ServerEntry, type StdioEntry } from './entry.ts';

/**
 * Programs and packages with a browser, a debugger or a screen: the next caller would continue in the previous one's
 * state.
 */
const STATEFUL = [
  /(?:^|[/@_-])(?:playwright|puppeteer|selenium|webdriver|appium)/,
  /(?:^|[/@_-])browser/,
  /chrome-?devtools/,
  /(?:^|[/@_-])(?:debugger|debug|gdb|lldb|dap)(?:$|[/@_.-])/,
];

/** Subcommands of launchers that precede the program's name: `pnpm dlx <package>`, `docker run <image>`. */
const LAUNCHER_WORDS: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'npx']);

/** Read with every call; an entry never changes. */
const known = new WeakMap<ServerEntry, boolean>();

/** Returns the entry's setting, else the default for its program. */
export function isShareable(entry: ServerEntry): boolean {
  return getOrMake(known, entry, () => entry.shared ?? keepsNoState(entry));
}

function keepsNoState(entry: ServerEntry): boolean {
  if (!isStdio(entry)) return true;
  return !programOf(entry).some((word) => STATEFUL.some((pattern) => pattern.test(word.toLowerCase())));
}

/** Returns the arguments that name the program; later ones are data. */
function programOf({ command, args = [] }: StdioEntry): readonly string[] {
  const words = args.filter((word) => !word.startsWith('-') && !LAUNCHER_WORDS.has(word));
  // Values of a container's flags precede its image; values with paths are mounts.
  if (/(?:^|\/)(?:docker|podman)$/.test(command)) return words.filter((word) => !word.includes(':/'));
  return [command, ...words.slice(0, 1)];
}
