/**
 * Evaluates JMESPath expressions on JSON, within limits of steps and of the size of the result.
 *
 * The language has neither loops, recursion nor regular expressions; but a list can contain a value twice, so a short
 * expression can describe a result of any size. Libraries limit neither, and report no positions.
 */

import { isRecord } from '../json.ts';
import { nearest } from '../nearest.ts';
import {
  argumentFault,
  CHARS_PER_STEP,
  FUNCTIONS,
  type FunctionContext,
  objectFrom,
  Reference,
} from './jmespath-functions.ts';
import { type Comparator, type Expression, parseExpression } from './jmespath-parser.ts';
import { invalidSelect } from './jmespath-tokens.ts';

/** About a tenth of a second. */
const MAX_STEPS = 3_000_000;
/** Limit on the result, as JSON. */
const MAX_RESULT_CHARS: number = 32 * 1024 * 1024;
/** Nesting of a result. */
const MAX_DEPTH = 500;

/** A parsed expression. */
export type Select = (data: unknown, budget?: StepBudget) => unknown;

/** The steps that evaluations have taken, if several share the limit of one. */
export interface StepBudget {
  spent: number;
}

/**
 * Parses an expression; the returned function selects from a JSON value.
 *
 * @throws PlugboardError INVALID_ARGUMENTS with the position of the problem; the returned function too.
 * @example parseSelect('items[].id')({ items: [{ id: 1 }, { id: 2 }] }); // [1, 2]
 */
export function parseSelect(text: string): Select {
  const expression = parseExpression(text);
  checkNames(expression);
  return (data, budget = { spent: 0 }) => new Evaluation(budget).run(expression, data);
}

/** Rejects unknown functions before anything is evaluated. */
function checkNames(expression: Expression): void {
  if (expression.kind === 'slice' && expression.parts[2] === 0)
    throw invalidSelect(`the step of the slice at character ${expression.at + 1} is 0`);
  if (expression.kind === 'call' && !FUNCTIONS.has(expression.name)) {
    const { name, at } = expression;
    const [near] = nearest(name, [...FUNCTIONS.keys()]);
    const meant = near === undefined ? '' : `; did you mean ${near}()?`;
    throw invalidSelect(`there is no function ${name}() (character ${at + 1})${meant}`);
  }
  for (const part of partsOf(expression)) checkNames(part);
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'current':
    case 'field':
    case 'literal':
    case 'index':
    case 'slice':
      return [];
    case 'not':
    case 'flatten':
    case 'reference':
      return [expression.child];
    case 'list':
      return expression.members;
    case 'object':
      return expression.members.map(([, member]) => member);
    case 'call':
      return expression.args;
    case 'projection': {
      const { left, right, condition } = expression;
      return condition === undefined ? [left, right] : [left, right, condition];
    }
    case 'then':
    case 'pipe':
    case 'or':
    case 'and':
    case 'compare':
      return [expression.left, expression.right];
    default:
      return expression satisfies never;
  }
}

class Evaluation {
  readonly #budget: StepBudget;

  constructor(budget: StepBudget) {
    this.#budget = budget;
  }

  run(expression: Expression, data: unknown): unknown {
    const result = this.#visit(expression, data);
    if (result instanceof Reference) throw invalidSelect('it selects an expression (&) and not a value');
    this.#measure(result);
    return result;
  }

  #spend(steps: number): void {
    this.#budget.spent += steps;
    if (this.#budget.spent > MAX_STEPS)
      throw invalidSelect(`it needs more than ${MAX_STEPS.toLocaleString('en')} steps`);
  }

  #visit(expression: Expression, value: unknown): unknown {
    this.#spend(1);
    switch (expression.kind) {
      case 'current':
        return value;
      case 'field':
        return isRecord(value) && Object.hasOwn(value, expression.name)
          ? (value[expression.name] ?? null)
          : null;
      case 'literal':
        return expression.value;
      case 'index':
        return Array.isArray(value) ? (value.at(expression.value) ?? null) : null;
      case 'slice':
        return this.#slice(expression.parts, value);
      case 'then': {
        const left = this.#visit(expression.left, value);
        return left === null ? null : this.#visit(expression.right, left);
      }
      case 'pipe':
        return this.#visit(expression.right, this.#visit(expression.left, value));
      case 'or': {
        const left = this.#visit(expression.left, value);
        return isTrue(left) ? left : this.#visit(expression.right, value);
      }
      case 'and': {
        const left = this.#visit(expression.left, value);
        return isTrue(left) ? this.#visit(expression.right, value) : left;
      }
      case 'not':
        return !isTrue(this.#visit(expression.child, value));
      case 'compare':
        return this.#compare(
          expression.operator,
          this.#visit(expression.left, value),
          this.#visit(expression.right, value),
        );
      case 'flatten': {
        const list = this.#visit(expression.child, value);
        if (!Array.isArray(list)) return null;
        // Before the list exists: it can be a thousand times as long as the data.
        for (const item of list) this.#spend(Array.isArray(item) ? item.length : 1);
        return list.flat();
      }
      case 'reference':
        return new Reference(expression.child);
      case 'projection':
        return this.#project(expression, value);
      case 'list':
        return value === null ? null : expression.members.map((member) => this.#visit(member, value));
      case 'object':
        return value === null
          ? null
          : objectFrom(
              expression.members.map(([name, member]): [string, unknown] => [
                name,
                this.#visit(member, value),
              ]),
            );
      case 'call':
        return this.#call(expression, value);
      default:
        return expression satisfies never;
    }
  }

  #project(expression: Expression & { readonly kind: 'projection' }, value: unknown): unknown {
    const { of, left, right, condition } = expression;
    const base = this.#visit(left, value);
    // A part of a text is one value, and not a list of characters.
    if (typeof base === 'string' && left.kind === 'then' && left.right.kind === 'slice')
      return this.#visit(right, base);
    const items = of === 'items' ? base : isRecord(base) ? Object.values(base) : null;
    if (!Array.isArray(items)) return null;
    const results: unknown[] = [];
    for (const item of items) {
      if (condition !== undefined && !isTrue(this.#visit(condition, item))) continue;
      const result = this.#visit(right, item);
      if (result !== null) results.push(result);
    }
    return results;
  }

  #slice(parts: readonly (number | undefined)[], value: unknown): unknown {
    if (!Array.isArray(value) && typeof value !== 'string') return null;
    const [start, stop, step = 1] = parts;
    this.#spend(value.length / CHARS_PER_STEP);
    // Characters are code units if none of them is half of a pair; a list of all characters is then not needed.
    const isPlain = typeof value === 'string' && step === 1 && !/[\ud800-\udfff]/.test(value);
    if (typeof value === 'string' && !isPlain) this.#spend(value.length);
    const items = typeof value === 'string' && !isPlain ? [...value] : value;
    const { length } = items;
    const bound = (index: number | undefined, otherwise: number): number => {
      if (index === undefined) return otherwise;
      const least = step < 0 ? -1 : 0;
      return Math.min(Math.max(index < 0 ? index + length : index, least), step < 0 ? length - 1 : length);
    };
    const results: unknown[] = [];
    const first = bound(start, step < 0 ? length - 1 : 0);
    const end = bound(stop, step < 0 ? -1 : length);
    if (typeof items === 'string') return items.slice(first, Math.max(first, end));
    this.#spend(Math.max(0, (end - first) / step));
    for (let at = first; step < 0 ? at > end : at < end; at += step) results.push(items[at]);
    return typeof value === 'string' ? results.join('') : results;
  }

  #compare(operator: Comparator, left: unknown, right: unknown): boolean | null {
    if (operator === '==') return this.#isEqual(left, right);
    if (operator === '!=') return !this.#isEqual(left, right);
    if (typeof left !== 'number' || typeof right !== 'number') return null;
    switch (operator) {
      case '<':
        return left < right;
      case '<=':
        return left <= right;
      case '>':
        return left > right;
      case '>=':
        return left >= right;
      default:
        return operator satisfies never;
    }
  }

  #isEqual(left: unknown, right: unknown): boolean {
    this.#spend(1);
    if (left === right) return true;
    if (Array.isArray(left))
      return (
        Array.isArray(right) &&
        left.length === right.length &&
        left.every((item, at) => this.#isEqual(item, right[at]))
      );
    if (!isRecord(left) || !isRecord(right)) return false;
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && this.#isEqual(left[name], right[name]))
    );
  }

  #call({ name, args, at }: Expression & { readonly kind: 'call' }, value: unknown): unknown {
    const run = FUNCTIONS.get(name);
    if (run === undefined) throw invalidSelect(`there is no function ${name}()`);
    const fail = (why: string): never => {
      throw invalidSelect(`${name}() at character ${at + 1} ${why}`);
    };
    const values = args.map((arg) => this.#visit(arg, value));
    const [first] = values;
    // The types of items are checked, too.
    if (Array.isArray(first)) this.#spend(first.length);
    const fault = argumentFault(run, values);
    if (fault !== undefined) return fail(fault);
    const context: FunctionContext = {
      spend: (steps) => this.#spend(steps),
      // Only this class makes references, of expressions.
      evaluate: ({ child }, item) => this.#visit(child as Expression, item),
      isEqual: (left, right) => this.#isEqual(left, right),
      toJson: (part) => {
        this.#measure(part);
        return JSON.stringify(part);
      },
      fail,
    };
    return run.run(context, values);
  }

  /** Throws if the value is too large as JSON. */
  #measure(value: unknown): void {
    let left = MAX_RESULT_CHARS;
    const take = (chars: number): void => {
      left -= chars;
      if (left < 0) throw invalidSelect(`the result is larger than ${MAX_RESULT_CHARS / 1024 / 1024} MiB`);
    };
    const visit = (part: unknown, depth: number): void => {
      this.#spend(typeof part === 'string' ? 1 + part.length / CHARS_PER_STEP : 1);
      if (depth > MAX_DEPTH) throw invalidSelect(`the result is nested deeper than ${MAX_DEPTH} levels`);
      if (part instanceof Reference) throw invalidSelect('the result contains an expression (&)');
      take(typeof part === 'string' ? part.length + 2 : 4);
      if (Array.isArray(part)) for (const item of part) visit(item, depth + 1);
      else if (isRecord(part))
        for (const [name, item] of Object.entries(part)) {
          take(name.length + 3);
          visit(item, depth + 1);
        }
    };
    visit(value, 0);
  }
}

/** Empty values are false. */
function isTrue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isRecord(value) || Object.keys(value).length > 0;
}
