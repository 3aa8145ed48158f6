/** Checks the name part of a rule: a glob of tools without white space, stray brackets and text of conditions. */

/** Why a rule cannot be used; `at` is the position in its text. */
export interface RuleFault {
  readonly message: string;
  readonly hint: string;
  readonly at: number;
}

/** `name`: a valid glob of the tools that the rule was probably meant for. */
export interface NameFault {
  readonly name: string;
  readonly fault: RuleFault;
}

/** Most names: no brackets and no special characters. */
const PLAIN_GLOB = /^[\w.*?/!-]*$/;
const GROUP_MARKS = '!@+*?';
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '{': '}' };
/** The inside of `[…]`. */
const SET = /^[!^]?[\w.-]+$/;
const GRAMMAR = 'Write conditions as (name=glob, name~"expression"), and a choice of names as @(a|b).';

/** Returns why a name is not valid; undefined if it is. */
export function ruleNameFault(text: string): NameFault | undefined {
  if (PLAIN_GLOB.test(text)) return undefined;
  const trimmed = text.trim();
  if (trimmed !== text) {
    const at = text.startsWith(trimmed) ? trimmed.length : 0;
    const hint = 'Remove the white space before and after the name.';
    const name = ruleNameFault(trimmed)?.name ?? (trimmed || '*');
    return { name, fault: { message: 'White space is around the name', hint, at } };
  }
  const found = scanName(text);
  return found && { name: meantName(text, found.cut), fault: found.fault };
}

interface Stop {
  readonly fault: RuleFault;
  /** Where the valid part of the name ends. */
  readonly cut: number;
}

function scanName(text: string): Stop | undefined {
  const open: { readonly bracket: string; readonly at: number }[] = [];
  const stop = (message: string, at: number, hint: string = GRAMMAR): Stop => {
    const first = open[0]?.at ?? at;
    // The mark of a group is a part of it; "*" and "?" are also globs.
    const isMarked = text[first] === '(' && '!@+'.includes(text[first - 1] ?? ' ');
    return { fault: { message, hint, at }, cut: isMarked ? first - 1 : first };
  };
  for (let at = 0; at < text.length; at += 1) {
    const next = text[at] ?? '';
    const inner = open.at(-1);
    if (next === '\\') at += 1;
    else if (/\s/.test(next))
      return stop('White space is in the name', at, 'Write "_" for a space of a name.');
    else if (next === '(' || next === '{') {
      if (next === '(' && !GROUP_MARKS.includes(text[at - 1] ?? ' '))
        return stop('"(" does not begin valid conditions', at);
      open.push({ bracket: next, at });
    } else if (next === ')' || next === '}') {
      if (CLOSING[inner?.bracket ?? ''] !== next)
        return stop(
          `${JSON.stringify(next)} closes nothing`,
          at,
          'Remove it, or write the bracket that it closes.',
        );
      open.pop();
    } else if (next === '[') {
      const end = text.indexOf(']', at + 2);
      if (end === -1 || !SET.test(text.slice(at + 1, end)))
        return stop('"[" does not begin a set of characters', at);
      at = end;
    } else if (']=<>"\''.includes(next) || (inner?.bracket === '(' && ':,'.includes(next)))
      return stop(`${JSON.stringify(next)} is in the name`, at);
  }
  const [first] = open;
  if (first === undefined) return undefined;
  return stop(
    `${JSON.stringify(first.bracket)} is not closed`,
    first.at,
    `Close it with "${CLOSING[first.bracket]}".`,
  );
}

/** Returns the valid part of a name; with `*` if the rest of it was probably a part of the name. */
function meantName(text: string, cut: number): string {
  const start = text.slice(0, cut);
  const rest = text.slice(cut).trimStart();
  const isPart =
    /(?:^|[_-])$/.test(start) ||
    !/^[([]/.test(rest) ||
    rest.includes('|') ||
    /[\w*?]/.test(rest.slice(rest.search(/[)\]][^)\]]*$/) + 1 || rest.length));
  return isPart && !start.endsWith('*') ? `${start}*` : start;
}
