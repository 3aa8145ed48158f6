/** The tools of a host as one provider takes them; nothing is converted twice, and nothing at all when nothing changed. */

import { type Conversion, convert } from '../catalog/schemas/convert.ts';
import type { Provider } from '../catalog/schemas/profile.ts';
import type { JsonSchema } from '../catalog/schemas/write.ts';
import type { Tool } from '../catalog/tool.ts';
import type {
  AdapterHost,
  AdapterOptions,
  ExecuteOptions,
  ModelCall,
  QuarantinedTool,
} from './adapter-host.ts';
import { type Answer, type AnswerRequest, answer } from './answer.ts';
import { allowsStrict } from './strict.ts';

/** A tool with a schema that its provider accepts. */
export interface Usable {
  readonly tool: Tool;
  readonly description: string;
  readonly schema: JsonSchema;
  /** The schema keeps OpenAI's strict rules. */
  readonly strict: boolean;
}

export interface Shelf<Definition> {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly quarantined: readonly QuarantinedTool[];
}

export interface ToolboxOptions<Definition> extends AdapterOptions {
  readonly provider: Provider;
  /** Keep the strict rules where the schema allows. */
  readonly strict?: boolean;
  readonly define: (usable: Usable) => Definition;
}

type Converted = Conversion & { readonly strict: boolean };

export class Toolbox<Definition> {
  readonly host: AdapterHost;
  readonly #options: ToolboxOptions<Definition>;
  /** By schema, because tools are made anew with every snapshot and their schemas are not. */
  readonly #converted = new WeakMap<object, Converted>();
  readonly #defined = new WeakMap<Tool, Definition>();
  #tools: readonly Tool[] = [];
  #shelf: Shelf<Definition> = { definitions: new Map(), quarantined: [] };

  constructor(host: AdapterHost, options: ToolboxOptions<Definition>) {
    this.host = host;
    this.#options = options;
  }

  /** What there is now; the same object as before when nothing changed. */
  get shelf(): Shelf<Definition> {
    const tools = this.host.tools();
    if (!isSame(tools, this.#tools)) {
      this.#shelf = this.#fill(tools);
      this.#tools = tools;
    }
    return this.#shelf;
  }

  /** Calls a tool with what the model gave; never rejects. */
  call(request: ModelCall & ExecuteOptions & Pick<AnswerRequest, 'input' | 'onProgress'>): Promise<Answer> {
    const tool = this.host.tools().find(({ name }) => name === request.name);
    const conversion = tool && this.#convert(tool);
    const restore = conversion?.ok ? conversion.restore : undefined;
    return answer(this.host, this.#options, { ...request, restore });
  }

  #fill(tools: readonly Tool[]): Shelf<Definition> {
    const definitions = new Map<string, Definition>();
    const quarantined: QuarantinedTool[] = [];
    for (const tool of tools) {
      const conversion = this.#convert(tool);
      if (conversion.ok) definitions.set(tool.name, this.#define(tool, conversion.schema, conversion.strict));
      else quarantined.push({ name: tool.name, server: tool.server, reason: conversion.reason });
    }
    return { definitions, quarantined };
  }

  #define(tool: Tool, schema: JsonSchema, strict: boolean): Definition {
    const known = this.#defined.get(tool);
    if (known !== undefined) return known;
    const { maxDescriptionChars = Number.POSITIVE_INFINITY, define } = this.#options;
    const { description: whole } = tool;
    const description =
      whole.length <= maxDescriptionChars ? whole : `${whole.slice(0, maxDescriptionChars - 1)}…`;
    const definition = define({ tool, description, schema, strict });
    this.#defined.set(tool, definition);
    return definition;
  }

  #convert(tool: Tool): Converted {
    const known = this.#converted.get(tool.inputSchema);
    if (known !== undefined) return known;
    const converted = this.#convertNow(tool.inputSchema);
    this.#converted.set(tool.inputSchema, converted);
    if (!converted.ok) {
      const { name, server } = tool;
      this.#options.onQuarantine?.({ name, server, reason: converted.reason });
    }
    return converted;
  }

  #convertNow(schema: unknown): Converted {
    if (this.#options.strict && allowsStrict(schema)) {
      const strictly = convert(schema, 'openai-strict');
      if (strictly.ok) return { ...strictly, strict: true };
    }
    return { ...convert(schema, this.#options.provider), strict: false };
  }
}

function isSame(a: readonly Tool[], b: readonly Tool[]): boolean {
  return a === b || (a.length === b.length && a.every((tool, i) => tool === b[i]));
}
