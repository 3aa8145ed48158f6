/** Parses rules of `permissions`: the name of tools, and conditions on arguments. docs/rules.md has the grammar. */

import { compileLinear, type LinearPattern, type PatternFault } from '../lib/linear-pattern.ts';
import { globSource } from '../lib/value-glob.ts';
import { type RuleFault, ruleNameFault } from './rule-names.ts';

/** Longer rules are not written by hand, and parsing recurses. */
export const MAX_RULE_CHARS = 2_000;

export type RuleOperator = '=' | '!=' | '~' | '!~';

/** A member of an object, or every member. */
export type ArgumentSegment = { readonly member: string } | 'all';

/** How a value is compared: as text, as a path, or as a URL. */
export type PatternKind = 'text' | 'path' | 'url';

export interface RuleCondition {
  readonly argument: readonly [ArgumentSegment, ...ArgumentSegment[]];
  readonly operator: RuleOperator;
  readonly kind: PatternKind;
  /** A glob, or the source of a regular expression; may contain `${PROJECT_DIR}`. */
  readonly pattern: string;
}

export type ParsedRule =
  | { readonly name: string; readonly conditions: readonly RuleCondition[] }
  /** `name`: the tools that a rule of `ask` or `deny` applies to until it is fixed. */
  | { readonly name: string; readonly fault: RuleFault };

/** In a pattern: the root of the project. */
export const PROJECT_MARK = '${PROJECT_DIR}';

const LIST_START =
  /\(\s*(?:\*|[\p{L}\p{N}_$@-]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?:\s*\.\s*(?:\*|[\p{L}\p{N}_$@-]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))*\s*([=!~<>:])/gu;
const BARE_NAME = /[\p{L}\p{N}_$@-]+/uy;
const OPERATOR = /[=!~<>:]+/y;
const SPACES = /\s*/y;
const EXTGLOB_MARKS = '!@+*?';
const OPERATORS: readonly string[] = ['=', '!=', '~', '!~'] satisfies readonly RuleOperator[];

/** A path: absolute, in the home, relative, of the project, or of a drive. */
const PATH_PATTERN = /^(?:\/|~(?:\/|$)|\.{1,2}(?:\/|$)|\$\{PROJECT_DIR\}|[A-Za-z]:[\\/]|file:\/\/)/i;
const URL_PATTERN = /^[A-Za-z*{][A-Za-z0-9+.*{},?-]*:\/\//;

/** Returns the position of the `(` that begins the argument list; undefined if a rule has only a name. */
function listStart(rule: string): number | undefined {
  // Most rules have no list.
  if (!rule.trimEnd().endsWith(')')) return undefined;
  for (const match of rule.matchAll(LIST_START)) {
    const isExtglob = EXTGLOB_MARKS.includes(rule[match.index - 1] ?? ' ');
    if (!isExtglob || !'<>:'.includes(match[1] ?? '')) return match.index;
  }
  return undefined;
}

/** True if a rule depends on the arguments of a call, or is meant to. */
export function hasConditions(rule: string): boolean {
  return listStart(rule) !== undefined;
}

/**
 * Parses a rule.
 *
 * @example
 * parseRule('mcp__github__*(owner=acme)');
 * // { name: 'mcp__github__*', conditions: [{ argument: [{ member: 'owner' }], operator: '=', kind: 'text', pattern: 'acme' }] }
 */
export function parseRule(rule: string): ParsedRule {
  const start = listStart(rule);
  if (start === undefined) return ruleNameFault(rule) ?? { name: rule, conditions: [] };
  const name = rule.slice(0, start);
  if (rule.length > MAX_RULE_CHARS) {
    const message = `It is longer than ${MAX_RULE_CHARS} characters`;
    return { name, fault: { message, hint: 'Write several rules.', at: 0 } };
  }
  if (name === '') {
    const message = 'It has no name of a tool before "("';
    // Conditions without a name were meant for every tool.
    return { name: '*', fault: { message, hint: 'Write the name of a tool, or "*".', at: 0 } };
  }
  const misnamed = ruleNameFault(name);
  if (misnamed !== undefined) return misnamed;
  const conditions = new ConditionParser(rule, start + 1).parse();
  return 'fault' in conditions ? { name, fault: conditions.fault } : { name, ...conditions };
}

class Faulty extends Error {
  readonly fault: RuleFault;

  constructor(message: string, hint: string, at: number) {
    super(message);
    this.fault = { message, hint, at };
  }
}

const GRAMMAR_HINT = 'Write conditions as (name=glob, name~"expression").';

class ConditionParser {
  readonly #rule: string;
  /** The position of the `)` that ends the list. */
  readonly #end: number;
  #at: number;

  constructor(rule: string, at: number) {
    this.#rule = rule;
    this.#end = rule.trimEnd().length - 1;
    this.#at = at;
  }

  parse(): { readonly conditions: readonly RuleCondition[] } | { readonly fault: RuleFault } {
    try {
      const conditions = [this.#condition()];
      while (this.#at < this.#end) {
        // Every condition ends at a comma or at the end of the list.
        this.#at += 1;
        conditions.push(this.#condition());
      }
      return { conditions };
    } catch (error) {
      if (error instanceof Faulty) return { fault: error.fault };
      throw error;
    }
  }

  #condition(): RuleCondition {
    const argument = this.#argument();
    const operator = this.#operator();
    this.#take(SPACES);
    const at = this.#at;
    const pattern = this.#pattern();
    const kind = operator.endsWith('~') ? 'text' : patternKind(pattern);
    const fault = patternFault(operator, pattern, kind);
    if (fault !== undefined) throw new Faulty(fault.fault, fault.hint, at);
    return { argument, operator, kind, pattern };
  }

  #argument(): RuleCondition['argument'] {
    const first = this.#segment();
    const more: ArgumentSegment[] = [];
    for (this.#take(SPACES); this.#next() === '.'; this.#take(SPACES)) {
      this.#at += 1;
      more.push(this.#segment());
    }
    return [first, ...more];
  }

  #segment(): ArgumentSegment {
    this.#take(SPACES);
    const next = this.#next();
    if (next === '*') {
      this.#at += 1;
      return 'all';
    }
    const member = next === '"' || next === "'" ? this.#quoted(next) : this.#take(BARE_NAME);
    if (member === '') throw new Faulty('It lacks the name of an argument', GRAMMAR_HINT, this.#at);
    return { member };
  }

  #operator(): RuleOperator {
    const at = this.#at;
    let found = this.#take(OPERATOR);
    // "=~/x" is a path in the home.
    if (/^!?=~$/.test(found) && /[/,)]/.test(this.#next())) {
      found = found.slice(0, -1);
      this.#at -= 1;
    }
    if (isOperator(found)) return found;
    if (found === '') throw new Faulty('An argument has no operator', GRAMMAR_HINT, at);
    const hint = `The operators are = and != for globs, ~ and !~ for regular expressions${found.startsWith('=') ? '; put a pattern that begins with one of these characters in quotes' : ''}.`;
    throw new Faulty(`Unknown operator ${JSON.stringify(found)}`, hint, at);
  }

  #pattern(): string {
    const quote = this.#next();
    if (quote === '"' || quote === "'") {
      const pattern = this.#quoted(quote);
      this.#take(SPACES);
      if (this.#at !== this.#end && this.#next() !== ',')
        throw new Faulty('A pattern in quotes is followed by other text', GRAMMAR_HINT, this.#at);
      return pattern;
    }
    return this.#bare();
  }

  #quoted(quote: string): string {
    const start = this.#at;
    let text = '';
    for (this.#at += 1; this.#at < this.#end; this.#at += 1) {
      const next = this.#next();
      if (next === quote) {
        this.#at += 1;
        return text;
      }
      if (next === '\\') {
        this.#at += 1;
        text += this.#next() === quote ? quote : `\\${this.#next()}`;
      } else text += next;
    }
    throw new Faulty('A quote is not closed', `Close it with ${quote}.`, start);
  }

  #bare(): string {
    const start = this.#at;
    let depth = 0;
    for (; this.#at < this.#end; this.#at += 1) {
      const next = this.#next();
      if (next === ',' && depth === 0) break;
      if (next === '{') depth += 1;
      else if (next === '}') depth = Math.max(0, depth - 1);
      else if (next === '\\') this.#at += 1;
      else if ('"\'()'.includes(next))
        throw new Faulty(
          `${JSON.stringify(next)} is in a pattern without quotes`,
          'Put the pattern in quotes.',
          this.#at,
        );
    }
    // A backslash before the last parenthesis does not escape it.
    if (this.#at > this.#end) this.#at = this.#end;
    const text = this.#rule.slice(start, this.#at).trimEnd();
    if (text === '')
      throw new Faulty('A condition has no pattern', 'Write a pattern, or "" for an empty value.', start);
    return text;
  }

  #next(): string {
    return this.#rule[this.#at] ?? '';
  }

  /** Returns the text that matches here, and continues after it. */
  #take(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [found = ''] = expression.exec(this.#rule) ?? [];
    this.#at += found.length;
    return found;
  }
}

function isOperator(text: string): text is RuleOperator {
  return OPERATORS.includes(text);
}

/** Returns the path that a glob of text was probably meant as; undefined for other conditions. */
export function meantPath({ operator, kind, pattern }: RuleCondition): string | undefined {
  if (kind !== 'text' || operator.endsWith('~') || !/^\.|\//.test(pattern)) return undefined;
  return `./${pattern.replace(/\/+$/, '')}`;
}

function patternKind(pattern: string): PatternKind {
  if (PATH_PATTERN.test(pattern)) return 'path';
  return URL_PATTERN.test(pattern) ? 'url' : 'text';
}

/** Returns why a pattern cannot be used; its names are checked with a placeholder for the project. */
function patternFault(operator: RuleOperator, pattern: string, kind: PatternKind): PatternFault | undefined {
  const text = pattern.replaceAll(PROJECT_MARK, 'x');
  if (operator.endsWith('~')) return faultOf(compileLinear(text, { ignoreCase: true }));
  if (kind === 'path') {
    if (pattern.length > 1 && pattern.endsWith('/')) {
      const path = pattern.replace(/\/+$/, '');
      const hint = `Write ${JSON.stringify(path || '/')}, or ${JSON.stringify(`${path}/**`)} for everything in it.`;
      return { fault: 'A path must not end with "/"', hint };
    }
    const glob = text.split('/').findIndex((part) => /[*?[{]/.test(part));
    if (glob !== -1 && text.split('/').lastIndexOf('..') > glob)
      return { fault: '".." follows a glob', hint: 'Write the path without "..".' };
  }
  const source = globSource(text, kind !== 'text');
  return 'fault' in source ? source : faultOf(compileLinear(source.source, { ignoreCase: true }));
}

function faultOf(compiled: LinearPattern | PatternFault): PatternFault | undefined {
  return 'fault' in compiled ? compiled : undefined;
}
