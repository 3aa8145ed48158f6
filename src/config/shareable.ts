/** Which servers keep what one conversation is about in their process, so that two must not share it. */

import { isStdio, type ServerEntry, type StdioEntry } from './entry.ts';

/** Programs and packages that hold a browser, a debugger or a screen: the next caller would go on where the last one was. */
const STATEFUL = [
  /(?:^|[/@_-])(?:playwright|puppeteer|selenium|webdriver|appium)/,
  /(?:^|[/@_-])browser/,
  /chrome-?devtools/,
  /(?:^|[/@_-])(?:debugger|debug|gdb|lldb|dap)(?:$|[/@_.-])/,
];

/** Words of launchers, behind which the program is named: `pnpm dlx <package>`, `docker run <image>`. */
const LAUNCHER_WORDS: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'npx']);

/** Asked with every call: an entry never changes. */
const known = new WeakMap<ServerEntry, boolean>();

/** What the entry says, else what is known about the program it starts. */
export function isShareable(entry: ServerEntry): boolean {
  let isShared = known.get(entry);
  if (isShared === undefined) {
    isShared = entry.shared ?? keepsNoState(entry);
    known.set(entry, isShared);
  }
  return isShared;
}

function keepsNoState(entry: ServerEntry): boolean {
  if (!isStdio(entry)) return true;
  return !programOf(entry).some((word) => STATEFUL.some((pattern) => pattern.test(word.toLowerCase())));
}

/** The words that say what runs; what comes behind them is about data. */
function programOf({ command, args = [] }: StdioEntry): readonly string[] {
  const words = args.filter((word) => !word.startsWith('-') && !LAUNCHER_WORDS.has(word));
  // Values of a container's flags stand before its image; paths are what they are given.
  if (/(?:^|\/)(?:docker|podman)$/.test(command)) return words.filter((word) => !word.includes(':/'));
  return [command, ...words.slice(0, 1)];
}
