/** Defines the tool `run`, which runs programs over all tools (CAL-9): its description has signatures of some of them. */

import { getOrMake } from '../lib/get-or-make.ts';
import { firstSentence, signatureOf, typeText } from './signature.ts';
import { estimateDefinition } from './tokens.ts';
import { isForModel, type Tool } from './tool.ts';

export const RUN = 'run';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Longer types of results are left out of a signature. */
const MAX_OUTPUT_CHARS = 120;
export const MAX_CODE_CHARS = 200_000;
export const DEFAULT_DESCRIPTION_TOKENS = 2_000;

const ABOUT =
  'Runs a program in TypeScript or JavaScript that calls tools, and returns only its output. Use it for several calls in one ' +
  'step, for loops, and to filter or join results. Inside:\n' +
  '- `await tools.<server>.<tool>({…})` resolves to the structured content if there is one, else to the text; a failed tool ' +
  'throws. Other names: `tools["my-server"]["do-it"]({…})`. `Promise.all` runs calls in parallel.\n' +
  '- `await search("words")` returns signatures of matching tools; `await describe("server.tool")` a complete definition.\n' +
  '- `await resources.read(server, uri)`; `store(key, value)` and `load(key)` keep values for later programs.\n' +
  '- `return` a value, or `text(value)`, `image(base64, mimeType)`; `console.log` adds log lines. Keep the output short.\n' +
  'No imports, network, files or timers. A call that a person must approve pauses the program: if the answer contains an ' +
  'id, call run with {"resume": id} later.';

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    code: { type: 'string', minLength: 1, maxLength: MAX_CODE_CHARS, description: 'The program.' },
    resume: {
      type: 'string',
      minLength: 1,
      description: 'The id of a paused program that goes on, in place of code.',
    },
  },
  additionalProperties: false,
} as const;

/** A program can do anything that its tools can; each of its calls is approved by itself. */
const ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** By the list of tools, then by the budget: the same tools always have the same description. */
const made = new WeakMap<readonly Tool[], Map<number, Tool>>();

/** Returns the tool for a session that may call these tools; its description has at most `maxTokens`. */
export function runTool(tools: readonly Tool[], maxTokens: number = DEFAULT_DESCRIPTION_TOKENS): Tool {
  const byBudget = getOrMake(made, tools, () => new Map<number, Tool>());
  return getOrMake(byBudget, maxTokens, () => ({
    name: RUN,
    server: '',
    tool: RUN,
    description: describeTools(tools.filter(isForModel), maxTokens),
    inputSchema: INPUT_SCHEMA,
    annotations: ANNOTATIONS,
  }));
}

/** Adds signatures while they fit: the first tool of each server, then the second of each, and so on. */
function describeTools(tools: readonly Tool[], maxTokens: number): string {
  const byServer = new Map<string, Tool[]>();
  for (const tool of tools) getOrMake(byServer, tool.server, () => []).push(tool);
  const queues = [...byServer.values()];
  const rest = (count: number): string =>
    count === tools.length
      ? 'All tools:'
      : `${count} of ${tools.length} tools; find the others with search():`;
  let left = maxTokens - estimateDefinition(`${ABOUT}\n${rest(0)}`);
  const lines = new Map<Tool, string>();
  for (let round = 0; queues.some((queue) => round < queue.length); round += 1) {
    for (const queue of queues) {
      const tool = queue[round];
      if (tool === undefined) continue;
      const line = programLine(tool);
      const cost = estimateDefinition(line) + 1;
      if (cost > left) continue;
      left -= cost;
      lines.set(tool, line);
    }
  }
  if (tools.length === 0) return ABOUT;
  // In the order of the catalog, so that tools of one server are together.
  const listed = tools.flatMap((tool) => lines.get(tool) ?? []);
  return listed.length === 0
    ? `${ABOUT}\n${tools.length} tools; find them with search().`
    : `${ABOUT}\n${rest(listed.length)}\n${listed.join('\n')}`;
}

/**
 * Returns a tool as programs call it, in one line.
 *
 * @example programLine(tool) // 'tools.files.read({path: string}): Reads a file.'
 */
export function programLine({ server, tool, description, inputSchema, outputSchema }: Tool): string {
  const args = signatureOf(inputSchema).slice(1, -1);
  const output = outputSchema === undefined ? '' : typeText(outputSchema);
  const result =
    output === '' || output === 'object' || output.length > MAX_OUTPUT_CHARS ? '' : ` → ${output}`;
  const sentence = firstSentence(description);
  const call = `tools${member(server)}${member(tool)}(${args === '' ? '' : `{${args}}`})${result}`;
  return sentence === '' ? call : `${call}: ${sentence}`;
}

function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
