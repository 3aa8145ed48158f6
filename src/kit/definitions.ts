/** Definitions of a server's tools, resources, resource templates and prompts, as plain values. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import type { Checked, Given, Schema } from '../lib/author-schema.ts';
import type { Access, AccessRules } from './access.ts';
import type { Context } from './handler-context.ts';
import type { PromptReturn, ResourceReturn, ToolResult } from './handler-results.ts';

/** Fields that every listed item may have. */
export interface Described {
  /** For people; the name is for programs. */
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * How a failing handler is reported: as a result that the model reads, or as a protocol error (−32000, in the modern
 * era −32603).
 */
export type ErrorStyle = 'result' | 'protocol';

/** Whether calls of a tool become tasks. */
export type TaskMode = true | 'optional';

export interface ToolDefinition<
  Input extends Schema | undefined = undefined,
  Output extends Schema | undefined = undefined,
> extends Described,
    AccessRules {
  readonly name: string;
  /** The schema of its arguments; validated before `run`. Without one, any arguments are accepted. */
  readonly input?: Input;
  /** The schema of its structured content; validated too. */
  readonly output?: Output;
  readonly annotations?: ToolAnnotations | undefined;
  /** Default: the server's. */
  readonly errors?: ErrorStyle | undefined;
  /**
   * A call becomes a task, whose client does not wait. `true`: always, and a client without tasks is refused;
   * `'optional'`: if its client supports tasks (in 2025-11-25: if it requests one).
   */
  readonly task?: TaskMode | undefined;
  /** Returns a string, a content block or several, a whole result, or any JSON value. */
  readonly run: (args: Arguments<Input>, context: Context) => Returned<Output> | Promise<Returned<Output>>;
}

type Arguments<Input> = Input extends Schema ? Checked<Input> : Readonly<Record<string, unknown>>;
type Returned<Output> = Output extends Schema ? Given<Output> | ToolResult : unknown;

/** A tool as a server stores it. */
export interface Tool extends Described, AccessRules {
  readonly kind: 'tool';
  readonly name: string;
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
  readonly annotations: ToolAnnotations | undefined;
  readonly errors: ErrorStyle | undefined;
  readonly task?: TaskMode | undefined;
  /** Runs a call; throws for an error that the model reads. */
  readonly run: (args: never, context: Context) => unknown;
}

/**
 * Defines a tool. The types of its arguments and of its result follow from its schemas.
 *
 * @param definition - Name, schemas and the function that runs a call.
 * @returns The tool, for `defineServer` or `server.add()`.
 * @example
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   run: ({ a, b }) => a + b,
 * });
 * add.name; // → 'add'
 */
export function tool<
  const Input extends Schema | undefined = undefined,
  const Output extends Schema | undefined = undefined,
>(definition: ToolDefinition<Input, Output>): Tool {
  const { input, output, annotations, errors, ...rest } = definition;
  return { kind: 'tool', input, output, annotations, errors, ...rest };
}

/** Returns suggestions for an argument. */
export type Completer = (
  value: string,
  /** The known values of the other arguments. */
  known: Readonly<Record<string, string>>,
  context: Context,
) => readonly string[] | Promise<readonly string[]>;

export interface ResourceDefinition extends Described {
  readonly uri: string;
  /** Default: the URI. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  /** In bytes, if known. */
  readonly size?: number | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** Returns the content. */
  readonly read: (uri: string, context: Context) => ResourceReturn | Promise<ResourceReturn>;
}

export interface Resource extends ResourceDefinition {
  readonly kind: 'resource';
}

/**
 * Defines a resource at one URI.
 *
 * @param definition - URI, description and the function that returns the content.
 * @returns The resource, for `defineServer` or `server.add()`.
 * @example
 * const about = resource({ uri: 'memo://about', mimeType: 'text/plain', read: () => 'A memo.' });
 * about.uri; // → 'memo://about'
 */
export function resource(definition: ResourceDefinition): Resource {
  return { kind: 'resource', ...definition };
}

/** One resource of a template, as lists have it. */
export interface ListedResource extends Described {
  readonly uri: string;
  /** Default: the URI. */
  readonly name?: string | undefined;
  /** Default: that of the template. */
  readonly mimeType?: string | undefined;
  /** In bytes, if known. */
  readonly size?: number | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface ResourceTemplateDefinition extends Described {
  /** `memo://{id}`; `{+path}` also matches slashes. */
  readonly uriTemplate: string;
  /** Default: the template. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** Completions for its variables. */
  readonly complete?: Readonly<Record<string, Completer>> | undefined;
  /** Returns resources that exist, for lists. Without it, only the template is listed. */
  readonly list?:
    | ((access: Access) => readonly ListedResource[] | Promise<readonly ListedResource[]>)
    | undefined;
  /** Returns the content. */
  readonly read: (
    variables: Readonly<Record<string, string>>,
    context: Context,
    uri: string,
  ) => ResourceReturn | Promise<ResourceReturn>;
}

export interface ResourceTemplate extends ResourceTemplateDefinition {
  readonly kind: 'template';
}

/**
 * Defines resources whose URIs match a template.
 *
 * @param definition - Template, description and the function that returns the content of one URI.
 * @returns The template, for `defineServer` or `server.add()`.
 * @example
 * const memos = resourceTemplate({ uriTemplate: 'memo://{id}', read: ({ id }) => `Memo ${id}` });
 * memos.uriTemplate; // → 'memo://{id}'
 */
export function resourceTemplate(definition: ResourceTemplateDefinition): ResourceTemplate {
  return { kind: 'template', ...definition };
}

/** One argument of a prompt. */
export interface PromptArgument {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly complete?: Completer | undefined;
}

export interface PromptDefinition<Args extends Readonly<Record<string, PromptArgument>>> extends Described {
  readonly name: string;
  readonly arguments?: Args & Readonly<Record<string, PromptArgument>>;
  /** Returns the messages; a string becomes one message of the user. */
  readonly get: (args: PromptArguments<Args>, context: Context) => PromptReturn | Promise<PromptReturn>;
}

type PromptArguments<Args> = {
  readonly [Key in keyof Args]: Args[Key] extends { readonly required: true } ? string : string | undefined;
};

/** A prompt as a server stores it. */
export interface Prompt extends Described {
  readonly kind: 'prompt';
  readonly name: string;
  readonly arguments: Readonly<Record<string, PromptArgument>>;
  /** Returns the messages. */
  readonly get: (args: never, context: Context) => PromptReturn | Promise<PromptReturn>;
}

/**
 * Defines a prompt that people choose by its name.
 *
 * @param definition - Name, arguments and the function that returns the messages.
 * @returns The prompt, for `defineServer` or `server.add()`.
 * @example
 * const review = prompt({
 *   name: 'review',
 *   arguments: {
 *     language: { required: true, complete: (typed) => ['rust', 'ruby'].filter((one) => one.startsWith(typed)) },
 *   },
 *   get: ({ language }) => `Review this ${language} code.`,
 * });
 * review.name; // → 'review'
 */
export function prompt<const Args extends Readonly<Record<string, PromptArgument>> = Record<never, never>>(
  definition: PromptDefinition<Args>,
): Prompt {
  const { arguments: args = {}, ...rest } = definition;
  return { kind: 'prompt', arguments: args, ...rest };
}

/** A tool, resource, resource template or prompt. */
export type Item = Tool | Resource | ResourceTemplate | Prompt;
