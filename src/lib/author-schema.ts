/** Schema types for authors: any Standard Schema (zod, valibot, arktype, …) or a hand-written JSON Schema. */

/** The interface of standardschema.dev, as far as it is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema as an author writes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema for arguments or results: a Standard Schema such as zod, or a JSON Schema. */
export type Schema = StandardSchema | JsonSchema;

/** The type of a handler's input after validation. */
export type Checked<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromJsonSchema<S>;

/** The type that a handler has to return, before validation. */
export type Given<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : FromJsonSchema<S>;

/** The type described by a hand-written JSON Schema; `unknown` if types cannot express it. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array' }
              ? readonly (S extends { readonly items: infer Items } ? FromJsonSchema<Items> : unknown)[]
              : S extends { readonly type: 'object'; readonly properties: infer Properties }
                ? FromProperties<
                    Properties,
                    S extends { readonly required: readonly (infer Key)[] } ? Key : never
                  >
                : S extends { readonly type: 'object' }
                  ? Readonly<Record<string, unknown>>
                  : unknown;

type FromProperties<Properties, Required> = Flat<
  {
    readonly [Key in keyof Properties as Key extends Required ? Key : never]: FromJsonSchema<Properties[Key]>;
  } & {
    readonly [Key in keyof Properties as Key extends Required ? never : Key]?: FromJsonSchema<
      Properties[Key]
    >;
  }
>;

type Flat<T> = { readonly [Key in keyof T]: T[Key] };

export function isStandard(schema: Schema): schema is StandardSchema {
  // An arktype schema is a function with properties.
  return '~standard' in schema;
}
