/** Finds lines in a program's output: the cause of its failure, or the address it serves HTTP on. */

/** How much of one line a message quotes; the rest is in the detail. */
const MAX_QUOTED_CHARS = 200;

/** Timestamps, levels in brackets, emoji and other decoration before the text of a line. */
const DECORATION =
  /^(?:[\s>|*•-]|\p{Extended_Pictographic}|\uFE0F|[\u2190-\u21FF]|[\u2500-\u27BF]|×|\[[^\]\n]{0,40}\]:?|\(node:\d+\)|\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|\d\d:\d\d:\d\d[\d.,]*|(?:npm|pnpm|yarn) (?=ERR|error))\s*/u;
/** The level of a notice, before or instead of a timestamp. */
const NOTICE = /^\W*(?:\d[\d:.,TZ -]*\W*)?(?:info|debug|notice|trace|warn(?:ing)?)\b/i;

/** An error with its name and message, as runtimes and programs print it. */
const NAMED_ERROR =
  /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b[^:(]*:|(?:error|fatal|panic|[\w.-]+: (?:error|fatal))\b:?)\s*\S/i;
const ANY_ERROR = /\b[A-Za-z]*(?:Error|Exception)\b|\b(?:error|fatal):|\bCannot connect\b/i;
/** Common complaints without the word "error". */
const COMPLAINT =
  /\b(?:missing|required|requires|not (?:provided|set|found|configured|installed|specified|supported)|invalid|unauthori[sz]ed|forbidden|failed|cannot|can't|could not|couldn't|unable to|denied|refused|must (?:be|have|provide|set)|please (?:set|provide|specify|export))\b/i;
/** Source code in a stack trace, stack frames, members of a printed object, and references to a manual. */
const NOT_SPOKEN =
  /^\s*(?:throw\b|[\^~]+\s*$|at\s|new\s|const\s|let\s|return\b|await\s|[{}[\]()]+,?;?\s*$|\w+: .*,$|File ".*", line \d+|Traceback \(most recent call last\)|Node\.js v\d|During handling of|The above exception)|^(?:file:\/\/|node:)?[\w@./\\:-]+:\d+(?::\d+)?\)?$|\/\/ Unhandled 'error' event|--help/;
const WARNING = /\b(?:\w*Warning|warn|deprecated|notice|info|debug)\b/i;
/** The heading of usage text; the following lines are usage text too. */
const USAGE =
  /^\s*(?:usage|options|flags|commands|examples?|arguments|environment(?: variables)?)\b[^.]{0,40}:?\s*$|^\s*usage:/i;
const FLAG = /^\s*(?:-\w|--[\w-]+|[@\w./-]+ --[\w-]+)/;

const NAMED = 5;
const ANNOUNCED = 4;
const ERROR = 3;
const COMPLAINING = 2;
const IN_USAGE = 1.5;
const SPOKEN = 1;

export interface CauseLineOptions {
  /** Prefer the last of several errors: for a program that had started, where earlier ones are outdated. */
  readonly latest?: boolean | undefined;
}

/**
 * Returns the line with the reason: an error with its message before a heading, the line after a heading that ends in a
 * colon, errors before notices; source code, stack frames or usage text only if there is nothing else.
 *
 * @example
 * causeLine('Error: No token was given.\nUsage:\n  program --token=TOKEN'); // 'Error: No token was given.'
 */
export function causeLine(stderr: string, options: CauseLineOptions = {}): string | undefined {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const isLast = options.latest === true || lines.some((line) => /^\s*Traceback /.test(line));
  const ranked = rank(lines);
  let best: { readonly line: string; readonly score: number } | undefined;
  for (const each of ranked) {
    // A program without a named error prints its reason last.
    const wins = isLast || each.score < COMPLAINING;
    if (best === undefined || each.score > best.score || (wins && each.score === best.score)) best = each;
  }
  return (best?.line ?? lines.at(-1))?.trim().slice(0, MAX_QUOTED_CHARS);
}

/** True if the line is an error, not merely the best line available. */
export function isErrorLine(line: string): boolean {
  return scoreOf(line) >= COMPLAINING;
}

function rank(lines: readonly string[]): { line: string; score: number }[] {
  const ranked: { line: string; score: number }[] = [];
  let isAnnounced = false;
  let isUsage = false;
  for (const line of lines) {
    if (NOT_SPOKEN.test(line)) continue;
    const text = undecorated(line);
    const own = scoreOf(line);
    isUsage = own < NAMED && (isUsage || USAGE.test(text));
    if (isUsage || FLAG.test(line)) {
      // Some programs print the error after their usage.
      ranked.push({ line, score: own >= COMPLAINING && !FLAG.test(line) ? IN_USAGE : 0 });
      isAnnounced = false;
      continue;
    }
    const isHeading = text.endsWith(':') && own > SPOKEN;
    // A heading alone does not name the problem.
    const score = isHeading ? SPOKEN : Math.max(own, isAnnounced ? ANNOUNCED : 0);
    ranked.push({ line, score });
    isAnnounced = isHeading;
  }
  return ranked;
}

function scoreOf(line: string): number {
  if (NOTICE.test(line)) return SPOKEN;
  const text = undecorated(line);
  if (NAMED_ERROR.test(text)) return NAMED;
  if (WARNING.test(text)) return SPOKEN;
  if (ANY_ERROR.test(text)) return ERROR;
  return COMPLAINT.test(text) ? COMPLAINING : SPOKEN;
}

function undecorated(line: string): string {
  let text = line.trim();
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(DECORATION, '');
  }
  return text;
}

/** A program that was started for stdio but serves over HTTP prints its address. */
const WORD = String.raw`\b(?:listen(?:s|ing)?|runs|running|serv(?:es|ing)|started|available|ready)\b`;
const REST = String.raw`[^\s"'<>()[\]{},;]`;
const ADDRESS = String.raw`https?:\/\/(?:\[[\da-f:]+\]${REST}*|${REST}+)`;
/** `Server listening on http://localhost:3000`, `http://localhost:3000 is ready`. */
const WITH_ADDRESS = new RegExp(`${WORD}.*?(${ADDRESS})|(${ADDRESS}).*?${WORD}`, 'i');
/** `Listening on port 3000`, `listening at :3000`, `Server running on 0.0.0.0:3000`. */
const WITH_PORT = new RegExp(String.raw`${WORD}\s+(?:on|at)\s+(?:port\s+|[\w.]*:)(\d{2,5})\b`, 'i');
/** A wildcard listening address, to which clients cannot connect. */
const EVERYWHERE = /^(https?:\/\/)(?:0\.0\.0\.0|\[::\])/;

export interface ListeningLine {
  readonly line: string;
  readonly url: string;
}

/** Returns the first line with an address that the program listens on. */
export function listeningLine(text: string): ListeningLine | undefined {
  for (const line of text.split('\n')) {
    const address = WITH_ADDRESS.exec(line);
    const port = address === null ? WITH_PORT.exec(line)?.[1] : undefined;
    const found =
      address?.[1] ?? address?.[2] ?? (port === undefined ? undefined : `http://localhost:${port}`);
    if (found === undefined) continue;
    const url = found.replace(/[.:]+$/, '').replace(EVERYWHERE, '$1127.0.0.1');
    return { line: line.trim().slice(0, MAX_QUOTED_CHARS), url };
  }
  return undefined;
}
