/**
 * Pipeline stage: validates the arguments before a person is asked or a server receives them, and structured output
 * in results: that is returned in any case, with a log message if it does not match the tool's output schema.
 */

import type { Tool } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { ArgumentChecker } from './argument-check.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import type { FailedParts } from './failed-part.ts';
import { toolOf } from './resolved-call.ts';

export const validate: Stage = (context, next) => {
  let loading: Promise<ArgumentChecker> | undefined;
  let checker: ArgumentChecker | undefined;
  const check = (call: Call, using: ArgumentChecker): ReturnType<Handler> => {
    const tool = toolOf(call);
    const problems = argumentProblems(call.arguments, tool, using);
    if (problems.length === 0) {
      return tool.outputSchema === undefined ? next(call) : withOutput(context, call, using, next);
    }
    const expected = isRecord(call.arguments) ? using.failedParts(tool.inputSchema, call.arguments) : {};
    return Promise.reject(
      new PlugboardError('INVALID_ARGUMENTS', `${call.name} was not called: ${problems.join('; ')}`, {
        server: tool.server,
        hint: correction(expected),
        detail: { expected },
      }),
    );
  };
  return (call) => {
    if (checker !== undefined) return check(call, checker);
    loading ??= context.argumentChecker();
    return loading.then((loaded) => {
      checker = loaded;
      return check(call, loaded);
    });
  };
};

/** Returns the hint with the parts of the schema that failed: a model may not have read the schema. */
function correction(expected: FailedParts): string {
  return Object.keys(expected).length === 0
    ? 'Correct the arguments to match the inputSchema of the tool.'
    : `Correct the arguments to match these parts of the inputSchema: ${JSON.stringify(expected)}`;
}

/** Returns one sentence for each problem with the arguments of a call; empty if there are none. */
export function argumentProblems(
  args: unknown,
  { inputSchema }: Pick<Tool, 'inputSchema'>,
  using: ArgumentChecker,
): readonly string[] {
  if (!isRecord(args)) return ['the arguments must be an object'];
  const unsent = unsendable(args);
  return unsent === undefined ? using.checkFor(inputSchema)(args) : [unsent];
}

async function withOutput(
  context: CallContext,
  call: Call,
  using: ArgumentChecker,
  next: Handler,
): ReturnType<Handler> {
  const result = await next(call);
  const tool = toolOf(call);
  const { structuredContent } = result;
  // A failed tool does not have to match its schema, and truncated output is in a file.
  if (
    tool.outputSchema === undefined ||
    result.isError ||
    result.truncated !== undefined ||
    call.select !== undefined ||
    result.task !== undefined
  )
    return result;
  const problems =
    structuredContent === undefined
      ? ['there is none']
      : using.checkFor(tool.outputSchema)(structuredContent);
  if (problems.length > 0) {
    const why = problems.join('; ');
    context.log(
      tool.server,
      'warning',
      `${tool.tool}: its structured output does not match its outputSchema: ${why}`,
    );
    call.onMismatch?.(problems);
  }
  return result;
}

/** Deeper nesting is treated as a circular reference. */
const MAX_DEPTH = 200;
/** Values beyond this number are not checked: an invalid one fails when it is sent. */
const MAX_VALUES = 100_000;

/** Returns what cannot be sent, and where; undefined if everything can. */
function unsendable(args: Readonly<Record<string, unknown>>): string | undefined {
  let seen = 0;
  const look = (value: unknown, path: string, depth: number): string | undefined => {
    if (typeof value === 'bigint') return `${path} is a BigInt, which JSON does not have`;
    if (typeof value === 'number' && !Number.isFinite(value))
      return `${path} is ${value}, which JSON does not have`;
    if (typeof value === 'function' || typeof value === 'symbol')
      return `${path} is a ${typeof value}, which JSON does not have`;
    if (typeof value !== 'object' || value === null) return undefined;
    // It defines its own JSON form, like a Date.
    if ('toJSON' in value && typeof value.toJSON === 'function') return undefined;
    if (depth > MAX_DEPTH) return `${path.slice(0, MAX_PATH_CHARS)}… is nested too deeply, or holds itself`;
    for (const key of Object.keys(value)) {
      seen += 1;
      if (seen > MAX_VALUES) return undefined;
      const member = (value as Readonly<Record<string, unknown>>)[key];
      const found = look(member, path === '' ? key : `${path}.${key}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return look(args, '', 0);
}

const MAX_PATH_CHARS = 60;
