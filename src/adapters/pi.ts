/** Tools for the coding agent pi: an extension that registers them, and keeps them up to date with the host. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { Progress } from '../connection/peer.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import type { Answer } from './answer.ts';
import { checkAdapter } from './check-options.ts';
import { errorText, isImage, mapParts, type Part, partsOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

export type PiContent = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

/** The result of a tool for pi. */
export interface PiResult {
  content: PiContent[];
  /** The whole answer, for renderers. */
  details: Answer;
}

/** A tool for pi. */
export interface PiTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonSchema;
  /** Calls the tool; called by pi. */
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: PiResult) => void,
  ): Promise<PiResult>;
}

/** The part of pi's API that the extension uses; without the optional members it registers each tool once. */
export interface PiApi {
  /** Adds a tool to the session. */
  registerTool(tool: PiTool): void;
  /** Returns the names of the active tools. */
  getActiveTools?(): string[];
  /** Replaces the names of the active tools. */
  setActiveTools?(names: string[]): void;
  /** Adds a listener for an event of pi. */
  on?(event: 'session_start' | 'session_shutdown', handler: () => void): void;
  /** Adds a listener for an event of pi. */
  on?(
    event: 'tool_result',
    handler: (event: {
      readonly toolName: string;
      readonly details?: unknown;
    }) => { isError: true } | undefined,
  ): void;
}

/** Options of `toPi`. */
export interface PiOptions extends AdapterOptions {
  /** Your own tools: registered first. A tool of the host with the same name is omitted. */
  readonly tools?: readonly PiTool[] | undefined;
}

/**
 * Returns an extension for pi. You own the host: close it when the session ends.
 *
 * @param host - The host, or a session of it.
 * @param options - Your own tools, media.
 * @returns The extension.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const extension = async (pi) => {
 *   pi.on('session_shutdown', () => host.close());
 *   toPi(host)(pi);
 * };
 */
export function toPi(host: AdapterHost, options: PiOptions = {}): (pi: PiApi) => void {
  checkAdapter('toPi', host, options);
  const { tools: own = [], ...common } = options;
  return (pi) => {
    /** All registered tools; pi cannot unregister a tool, only deactivate it. */
    const registered = new Map<string, PiTool>();
    const gone = new Set<string>();
    let started = false;

    const toolbox: Toolbox<PiTool> = new Toolbox<PiTool>(host, {
      ...common,
      provider: 'ai-sdk',
      media: options.media ?? 'images',
      taken: new Set(own.map(({ name }) => name)),
      define: ({ tool, description, schema }) => ({
        name: tool.name,
        label: tool.title ?? `${tool.server} ${tool.tool}`.trim(),
        description,
        parameters: schema,
        async execute(id, input, signal, onUpdate) {
          const { name } = tool;
          const onProgress = onUpdate && ((progress: Progress) => onUpdate(updateOf(progress)));
          const answer = await toolbox.call({ name, id, input, signal, onProgress });
          if (name === TOOL_SEARCH) sync();
          return resultOf(answer, toolbox.parts(answer));
        },
      }),
    });

    function sync(): void {
      const { definitions } = toolbox.shelf;
      const fresh = [...definitions].filter(([name, tool]) => !isSame(registered.get(name), tool));
      for (const [name, tool] of fresh) {
        registered.set(name, tool);
        pi.registerTool(tool);
      }
      if (started) activate(new Set(definitions.keys()));
    }

    /** Does not change tools of others, nor ours that the person has deactivated. */
    function activate(there: ReadonlySet<string>): void {
      const active = pi.getActiveTools?.() ?? [];
      const wanted = active.filter((name) => there.has(name) || !registered.has(name));
      const back = [...there].filter((name) => gone.delete(name) && !wanted.includes(name));
      for (const name of registered.keys()) if (!there.has(name)) gone.add(name);
      if (wanted.length < active.length || back.length > 0) pi.setActiveTools?.([...wanted, ...back]);
    }

    for (const tool of own) pi.registerTool(tool);
    sync();
    const unsubscribe = host.on?.('tools', sync);
    pi.on?.('session_start', () => {
      // Before this event, pi only accepts registrations.
      started = true;
      sync();
    });
    pi.on?.('session_shutdown', () => unsubscribe?.());
    // A result has no error flag of its own; only an exception sets it, which would lose the content.
    pi.on?.('tool_result', ({ toolName, details }) =>
      registered.has(toolName) && isFailed(details) ? { isError: true } : undefined,
    );
  };
}

/** Each snapshot has new definitions; only those with a changed description or schema are registered again. */
function isSame(known: PiTool | undefined, tool: PiTool): boolean {
  return known?.description === tool.description && known.parameters === tool.parameters;
}

function isFailed(details: unknown): boolean {
  return typeof details === 'object' && details !== null && 'isError' in details && details.isError === true;
}

function resultOf(answer: Answer, parts: readonly Part[] = partsOf(answer)): PiResult {
  // pi's own error flag does not reach every provider.
  if (answer.isError) return { content: [{ type: 'text', text: errorText(answer, parts) }], details: answer };
  const content = mapParts<PiContent>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => (isImage(part) ? { type: 'image', data: part.data, mimeType: part.mimeType } : undefined),
  );
  return { content, details: answer };
}

function updateOf({ progress, total, message }: Progress): PiResult {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return resultOf({
    content: [{ type: 'text', text: message === undefined ? share : `${message} (${share})` }],
    isError: false,
  });
}
