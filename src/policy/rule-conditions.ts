/** Decides whether the arguments of a call match the conditions of a rule. docs/rules.md has the semantics. */

import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  type ArgumentSegment,
  meantPath,
  PROJECT_MARK,
  parseRule,
  type RuleCondition,
} from '../config/rule-syntax.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isInside } from '../lib/inside.ts';
import { isRecord } from '../lib/json.ts';
import { compileLinear, type LinearPattern } from '../lib/linear-pattern.ts';
import { resolveLinks } from '../lib/resolve-links.ts';
import { escapePattern, globSource } from '../lib/value-glob.ts';
import {
  hasUnresolved,
  type PathPlace,
  pathSpellings,
  textSpellings,
  urlSpellings,
} from './value-spellings.ts';

/** The lists of `permissions` differ in how they match values: `allow` strictly, `refuse` (ask, deny) loosely. */
export type RuleEffect = 'allow' | 'refuse';

/** The arguments of one call, and where their paths begin. */
export interface RuleSubject extends PathPlace {
  readonly arguments: unknown;
  /** For the defaults of missing arguments. */
  readonly inputSchema?: unknown;
}

type Test = (subject: RuleSubject) => boolean;

/** A rule in the parts that are matched: the glob of names, and the test of arguments. */
export interface CompiledRule {
  readonly name: string;
  /** Absent if the rule applies to every call of the tools; `never` if it is invalid and would allow. */
  readonly test?: Test | 'never';
}

/** An invalid rule allows nothing, and refuses every call of the tools that it names. */
export function compileRule(rule: string, effect: RuleEffect): CompiledRule {
  const parsed = parseRule(rule);
  const { name } = parsed;
  if ('fault' in parsed) return effect === 'allow' ? { name, test: 'never' } : { name };
  if (parsed.conditions.length === 0) return { name };
  const tests = parsed.conditions.map((condition) => compileCondition(condition, effect));
  return { name, test: (subject) => tests.every((test) => test(subject)) };
}

const MAX_DEPTH = 64;
const MAX_MEMBERS = 10_000;
const MAX_CHARS = 262_144;
/** Patterns with the path of a project are longer than those that a person writes. */
const MAX_STATES = 20_000;
const MAX_PROJECTS = 64;

/** Thrown while values are compared: there are too many of them. */
class Unreadable extends Error {}

function compileCondition(condition: RuleCondition, effect: RuleEffect): Test {
  const { argument, operator } = condition;
  const isNegated = operator.startsWith('!');
  // A negated condition is the opposite of what the other lists match.
  const isStrict = (effect === 'allow') !== isNegated;
  const matcherIn = matchersOf(condition, !isStrict);
  const path = meantPath(condition);
  const pathMatcherIn =
    path === undefined ? undefined : matchersOf({ ...condition, kind: 'path', pattern: path }, !isStrict);
  const matches: Test = (subject) => {
    try {
      const walk = new ValueWalk(matcherIn(subject), pathMatcherIn?.(subject), subject);
      return isStrict
        ? walk.strict(subject.arguments, argument)
        : walk.loose(subject.arguments, argument, subject.inputSchema);
    } catch (error) {
      if (error instanceof Unreadable) return !isStrict;
      throw error;
    }
  };
  if (!isNegated) return matches;
  if (effect === 'refuse') return (subject) => !matches(subject);
  return (subject) => exists(subject.arguments, argument) && !matches(subject);
}

/** True if an argument has a value other than null; in arrays, in every element. */
function exists(value: unknown, path: readonly ArgumentSegment[], at = 0, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value))
    return value.length > 0 && value.every((element) => exists(element, path, at, depth + 1));
  const segment = path[at];
  if (segment === undefined) return value !== null && value !== undefined;
  if (!isRecord(value)) return false;
  const members = membersAt(value, segment);
  return members.length > 0 && members.every((member) => exists(member, path, at + 1, depth + 1));
}

function membersAt(value: Readonly<Record<string, unknown>>, segment: ArgumentSegment): readonly unknown[] {
  if (segment === 'all') return Object.values(value);
  return Object.hasOwn(value, segment.member) ? [value[segment.member]] : [];
}

/** Compares one value that is not an array or object. */
interface Matcher {
  readonly condition: RuleCondition;
  /** The variants of the pattern: one of them must match. */
  readonly patterns: readonly LinearPattern[];
}

/** Compares the values of one condition, within limits. */
class ValueWalk {
  readonly #matcher: Matcher;
  /** For text that looks like a path: the same pattern as a path. */
  readonly #asPath: Matcher | undefined;
  readonly #place: PathPlace;
  #members = 0;
  #chars = 0;

  constructor(matcher: Matcher, asPath: Matcher | undefined, place: PathPlace) {
    this.#matcher = matcher;
    this.#asPath = asPath;
    this.#place = place;
  }

  /** True if the values that `path` leads to, from its segment `at` on, all match; there must be one. */
  strict(value: unknown, path: readonly ArgumentSegment[], at = 0, depth = 0): boolean {
    this.#count(depth);
    if (Array.isArray(value))
      return value.length > 0 && value.every((element) => this.strict(element, path, at, depth + 1));
    const segment = path[at];
    if (segment === undefined) {
      if (value === null) return this.#isNullPattern();
      return typeof value !== 'object' && this.#every(value);
    }
    if (!isRecord(value)) return false;
    const members = membersAt(value, segment);
    return members.length > 0 && members.every((member) => this.strict(member, path, at + 1, depth + 1));
  }

  /** True if one of the values that `path` leads to, from its segment `at` on, matches, defaults of the schema included. */
  loose(value: unknown, path: readonly ArgumentSegment[], schema: unknown, at = 0, depth = 0): boolean {
    this.#count(depth);
    if (Array.isArray(value)) {
      const items = isRecord(schema) ? schema['items'] : undefined;
      return value.some((element) => this.loose(element, path, items, at, depth + 1));
    }
    const segment = path[at];
    if (segment === undefined) {
      if (!isRecord(value)) return this.#some(value);
      return Object.entries(value).some(
        ([name, member]) => this.#some(name) || this.loose(member, path, undefined, at, depth + 1),
      );
    }
    if (!isRecord(value)) return false;
    if (segment === 'all')
      return Object.entries(value).some(([name, member]) =>
        this.loose(member, path, propertyOf(schema, name), at + 1, depth + 1),
      );
    const { member: name } = segment;
    const property = propertyOf(schema, name);
    const member = Object.hasOwn(value, name) ? value[name] : defaultOf(property);
    return member !== undefined && this.loose(member, path, property, at + 1, depth + 1);
  }

  #count(depth: number): void {
    this.#members += 1;
    if (depth > MAX_DEPTH || this.#members > MAX_MEMBERS) throw new Unreadable();
  }

  #isNullPattern(): boolean {
    const { operator, pattern } = this.#matcher.condition;
    return operator.endsWith('=') && pattern === 'null';
  }

  #every(value: unknown): boolean {
    if (!this.#isComparable(value)) return false;
    const isUrl = this.#matcher.condition.kind === 'url';
    const matches =
      this.#spellings(value)?.every((text) => this.#matches(text) && (!isUrl || URL.canParse(text))) ?? false;
    return matches && !(this.#asPath !== undefined && typeof value === 'string' && hasUnresolved(value));
  }

  #some(value: unknown): boolean {
    if (!this.#isComparable(value)) return false;
    if (this.#spellings(value)?.some((text) => this.#matches(text)) ?? true) return true;
    return typeof value === 'string' && this.#isPathLike(value);
  }

  /** True if a value is the path that the pattern was probably meant for. */
  #isPathLike(value: string): boolean {
    const asPath = this.#asPath;
    if (asPath === undefined) return false;
    const isMatch = (text: string): boolean => asPath.patterns.some((pattern) => pattern.test(text));
    return pathSpellings(value, this.#place)?.some(isMatch) ?? true;
  }

  /** Only strings are paths and URLs. */
  #isComparable(value: unknown): boolean {
    return typeof value === 'string' || this.#matcher.condition.kind === 'text';
  }

  #matches(text: string): boolean {
    return this.#matcher.patterns.some((pattern) => pattern.test(text));
  }

  /** Undefined if the value is unreadable. */
  #spellings(value: unknown): readonly string[] | undefined {
    const { kind, pattern } = this.#matcher.condition;
    if (typeof value !== 'string') return [String(value)];
    this.#chars += value.length;
    if (this.#chars > MAX_CHARS) return undefined;
    switch (kind) {
      case 'text':
        return textSpellings(value);
      case 'path':
        return pathSpellings(value, this.#place);
      case 'url':
        return urlSpellings(value, /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(pattern)?.[0] ?? 'https');
      default:
        return kind satisfies never;
    }
  }
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function defaultOf(schema: unknown): unknown {
  return isRecord(schema) ? schema['default'] : undefined;
}

/** Compiles a pattern for each project that it is used in. */
function matchersOf(condition: RuleCondition, ignoreCase: boolean): (place: PathPlace) => Matcher {
  const made = new Map<string, Matcher>();
  const isFixed = condition.kind !== 'path' && !condition.pattern.includes(PROJECT_MARK);
  return ({ projectDir }) => {
    if (made.size === MAX_PROJECTS) made.clear();
    return getOrMake(made, isFixed ? '' : projectDir, () => {
      const sources = sourcesOf(condition, projectDir);
      const patterns = sources.map((source) => compileLinear(source, { ignoreCase, maxStates: MAX_STATES }));
      // The rule was checked, so only the path of the project can be too long.
      return { condition, patterns: patterns.map((each) => ('fault' in each ? UNUSABLE : each)) };
    });
  };
}

const UNUSABLE: LinearPattern = {
  test() {
    throw new Unreadable();
  },
};

function sourcesOf({ operator, kind, pattern }: RuleCondition, projectDir: string): readonly string[] {
  if (operator.endsWith('~')) return [pattern.replaceAll(PROJECT_MARK, () => escapePattern(projectDir))];
  const globs = kind === 'path' ? pathGlobs(pattern, projectDir) : [withProject(pattern, projectDir)];
  return globs.flatMap((glob) => {
    const made = globSource(glob, kind !== 'text');
    return 'fault' in made ? [] : [made.source];
  });
}

function withProject(glob: string, projectDir: string): string {
  return glob.replaceAll(PROJECT_MARK, () => escapeGlob(projectDir));
}

/** Returns the absolute glob, and the same with the links of its fixed part resolved. */
function pathGlobs(pattern: string, projectDir: string): readonly string[] {
  const plain = pattern.replace(/^file:\/\/[^/]*/i, '');
  const home = plain.replace(/^~(?=\/|$)/, () => escapeGlob(homedir()));
  const glob = withProject(home, projectDir);
  const parts = glob.split('/');
  const first = parts.findIndex((part) => /[*?[{]/.test(part.replaceAll(/\\./g, '')));
  const fixed = (first === -1 ? parts : parts.slice(0, first)).join('/').replaceAll(/\\(.)/g, '$1');
  const rest = first === -1 ? [] : parts.slice(first).filter((part) => part !== '.' && part !== '');
  const folder = resolve(projectDir, first === 0 ? '.' : fixed === '' ? '/' : fixed);
  // Links inside the project are not followed: a project could plant them.
  const real = resolveLinks(folder, (link) => !isInside(link, projectDir)) ?? folder;
  return [...new Set([folder, real])].map((base) => {
    const start = escapeGlob(base.replaceAll('\\', '/'));
    return rest.length === 0 ? start : `${start === '/' ? '' : start}/${rest.join('/')}`;
  });
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}]/g, '\\$&');
}
