/** Typed tools: functions with exact types, whose arguments and results are validated by the author's schemas. */

import { type AuthorCheck, authorCheck, type CheckerSource, type Verdict } from '../call/author-check.ts';
import type { CallOptions } from '../call/call.ts';
import type { ShapedResult } from '../call/shape.ts';
import { authorSchemaFault } from '../catalog/schemas/author-fault.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Checked, Given, Schema } from '../lib/author-schema.ts';
import { isRecord } from '../lib/json.ts';
import { shown } from '../lib/option-check.ts';
import { jsonOf } from './result-values.ts';

/** The schemas of one tool. A schema is a Standard Schema (zod, valibot, arktype, …) or a JSON Schema. */
export interface ToolSchema {
  /** Validates the arguments (default: only the server's own schema does). */
  readonly inputSchema?: Schema | undefined;
  /** Validates the structured content of results, or their text as JSON if there is none. */
  readonly outputSchema?: Schema | undefined;
}

/** Schemas by the tool's name, as `tools()` returns it or as `server__tool`. */
export type ToolSchemas = Readonly<Record<string, ToolSchema>>;

/** The arguments before validation: values with a default may be omitted. */
export type TypedArguments<S extends ToolSchema> = S extends {
  readonly inputSchema: infer Input extends Schema;
}
  ? Given<Input>
  : Readonly<Record<string, unknown>>;

/** The arguments after validation. */
export type ParsedArguments<S extends ToolSchema> = S extends {
  readonly inputSchema: infer Input extends Schema;
}
  ? Checked<Input>
  : Readonly<Record<string, unknown>>;

/** A result with structured content of the output schema's type, unless the tool itself failed. */
export type TypedResult<S extends ToolSchema, Result = ShapedResult> = S extends {
  readonly outputSchema: infer Output extends Schema;
}
  ?
      | (Omit<Result, 'isError' | 'structuredContent'> & {
          readonly isError: false;
          readonly structuredContent: Checked<Output>;
        })
      | (Result & { readonly isError: true })
  : Result;

/** One function for each tool. */
export type TypedTools<S extends ToolSchemas> = {
  readonly [Name in keyof S]: (
    ...given: Record<never, never> extends TypedArguments<S[Name]>
      ? [args?: TypedArguments<S[Name]>, options?: CallOptions]
      : [args: TypedArguments<S[Name]>, options?: CallOptions]
  ) => Promise<TypedResult<S[Name]>>;
};

type Call = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
) => Promise<ShapedResult>;

/** Builds the functions of `host.typed()`. */
export function typedTools<S extends ToolSchemas>(schemas: S, call: Call): TypedTools<S> {
  const checks = new SchemaChecks(schemas);
  const tools = Object.keys(schemas).map((name) => [
    name,
    async (args: unknown = {}, options: CallOptions = {}) =>
      checks.call(call, name, await checks.parsed(name, args), options),
  ]);
  // One function for each name, which validates what its type declares.
  return Object.fromEntries(tools) as TypedTools<S>;
}

type Reader = 'author' | 'model';

/** Validates arguments and results of the tools that have schemas. */
export class SchemaChecks {
  readonly schemas: ToolSchemas;
  readonly #inputs = new Map<string, AuthorCheck>();
  readonly #outputs = new Map<string, AuthorCheck>();
  readonly #reader: Reader;

  /**
   * @param reader Reads the errors: a hint for one is of no use to the other.
   * @throws PlugboardError CONFIG_INVALID if a schema is neither a Standard Schema nor a JSON Schema.
   */
  constructor(schemas: ToolSchemas, reader: Reader = 'author') {
    if (!isRecord(schemas))
      throw new PlugboardError('CONFIG_INVALID', '"schemas" must be an object of schemas by name', {
        hint: `It is ${shown(schemas)}.`,
      });
    this.schemas = schemas;
    this.#reader = reader;
    let checker: ReturnType<CheckerSource> | undefined;
    const source: CheckerSource = () => {
      checker ??= import('../call/argument-check.ts').then(({ createArgumentChecker }) =>
        createArgumentChecker(),
      );
      return checker;
    };
    for (const [name, given] of Object.entries(schemas)) {
      checkSchemas(name, given);
      const { inputSchema, outputSchema } = given;
      if (inputSchema !== undefined) this.#inputs.set(name, authorCheck(inputSchema, source));
      if (outputSchema !== undefined) this.#outputs.set(name, authorCheck(outputSchema, source));
    }
  }

  /** Returns the arguments as their schema parses them. */
  async parsed(name: string, args: unknown): Promise<Readonly<Record<string, unknown>>> {
    const check = this.#inputs.get(name);
    const verdict = check === undefined ? { value: args } : await verdictOf(check, args);
    const problems = 'problems' in verdict ? verdict.problems : undefined;
    if (problems === undefined && 'value' in verdict && isRecord(verdict.value)) return verdict.value;
    const why = problems?.join('; ') ?? 'the arguments must be an object';
    throw new PlugboardError('INVALID_ARGUMENTS', `${name} was not called: ${why}`, {
      hint: 'Correct the arguments to match the inputSchema of the tool.',
    });
  }

  /** Calls a tool; its structured content is the value that the output schema parses. */
  async call(
    call: Call,
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<ShapedResult> {
    const check = this.#outputs.get(name);
    if (check === undefined) return call(name, args, options);
    const result = await call(name, args, { ...options, keepsStructured: true });
    if (result.isError) return result;
    const verdict = await verdictOf(check, this.#readValue(name, result));
    if ('value' in verdict) return { ...result, structuredContent: verdict.value };
    throw this.#misfit(name, verdict.problems.join('; '));
  }

  #readValue(name: string, result: ShapedResult): unknown {
    try {
      return jsonOf(result);
    } catch {
      const { truncated } = result;
      const rest = truncated === undefined ? '' : `, and its text was cut at the limit of tokens`;
      throw this.#misfit(name, `it has no structured content${rest}`);
    }
  }

  #misfit(name: string, why: string): PlugboardError {
    return new PlugboardError(
      'PROTOCOL_ERROR',
      `The result of ${name} does not fit its outputSchema: ${why}`,
      {
        hint:
          this.#reader === 'author'
            ? 'The tool was called. Correct the outputSchema in "schemas", or call the tool without one.'
            : 'The tool was called and has had its effect: do not repeat the call for this reason.',
      },
    );
  }
}

/** A schema of a library runs code of the author, which may throw. */
async function verdictOf(check: AuthorCheck, value: unknown): Promise<Verdict> {
  try {
    return await check.check(value);
  } catch (thrown) {
    return { problems: [`its schema threw an error: ${asPlugboardError(thrown).message}`] };
  }
}

const KNOWN: ReadonlySet<string> = new Set(['inputSchema', 'outputSchema']);

/** Rejects values that plain JavaScript can get wrong. */
function checkSchemas(name: string, given: unknown): void {
  const wrong = (what: string, hint: string): PlugboardError =>
    new PlugboardError('CONFIG_INVALID', `"schemas" of ${name}: ${what}`, { hint });
  const isGiven = isRecord(given) && !('~standard' in given);
  const unknown = isGiven ? Object.keys(given).find((key) => !KNOWN.has(key)) : undefined;
  if (!isGiven || unknown !== undefined) {
    const what = unknown === undefined ? 'it is not an object with schemas' : `"${unknown}" is not known`;
    throw wrong(what, 'Give { inputSchema, outputSchema }; both are optional.');
  }
  for (const key of KNOWN) {
    const schema = given[key];
    if (schema === undefined) continue;
    if (!isSchema(schema)) {
      const hint = 'zod has Standard Schema since 3.24, valibot since 1.0.';
      throw wrong(`the ${key} is neither a Standard Schema nor a JSON Schema`, hint);
    }
    const fault = isRecord(schema) && !('~standard' in schema) ? authorSchemaFault(schema) : undefined;
    if (fault !== undefined) throw wrong(`the ${key} is not a JSON Schema: ${fault}`, 'Correct the schema.');
  }
}

/** Schemas of libraries are class instances or functions (arktype); a JSON Schema is a plain object without methods. */
function isSchema(value: unknown): boolean {
  if ((typeof value === 'object' && value !== null) || typeof value === 'function')
    return '~standard' in value || (isRecord(value) && !('_def' in value) && !('parse' in value));
  return false;
}
