/** Defines the tool `result`, which reads parts of stored results, and the addresses of these (CAL-8). */

import { type Tool, toolId } from './tool.ts';

export const RESULT = 'result';
/** Addresses of stored results begin with it. */
export const RESULT_PREFIX = 'plugboard://result/';
/** Matches per search, unless the call asks for another number. */
export const DEFAULT_MATCHES = 20;
export const MAX_MATCHES = 200;

export const RESULT_TOOL: Tool = {
  name: RESULT,
  server: '',
  tool: RESULT,
  description:
    `Reads a part of a stored result (${RESULT_PREFIX}…): by a JMESPath expression, by lines, or by a search. To pass a ` +
    `stored result to another tool without reading it, give {"$ref": "${RESULT_PREFIX}…"} as the argument, with "select" ` +
    "for a part of it or a change, as replace(@, 'old', 'new').",
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', minLength: 1, description: 'The address of the result, or its id.' },
      select: {
        type: 'string',
        description: 'A JMESPath expression, such as items[?size > `10`].name; on text, @ is the text.',
      },
      lines: {
        type: 'string',
        pattern: '^\\d{1,9}(-\\d{0,9})?$',
        description: 'Lines to read, counted from 1: "10-40", "10-" or "10".',
      },
      search: {
        type: 'string',
        minLength: 1,
        description: 'Only lines that contain this text, with their numbers.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_MATCHES,
        description: `How many lines a search returns (${DEFAULT_MATCHES}).`,
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  // Listed like a tool that was found: the list that a client got first stays.
  deferred: true,
};

/** The identity of the tool among those that a session has loaded. */
export const RESULT_ID: string = toolId(RESULT_TOOL);

const ID = /^[\w-]{16}$/;

/** Returns the id in an address of a stored result, or the id itself; undefined for any other text. */
export function resultId(address: string): string | undefined {
  const id = address.startsWith(RESULT_PREFIX) ? address.slice(RESULT_PREFIX.length) : address;
  return ID.test(id) ? id : undefined;
}
