/** Parses JSON that a person typed, with error positions. */

export class JsonTextError extends Error {
  /** Offset of the error, if the browser reports it. */
  readonly position: number | undefined;

  constructor(message: string, position: number | undefined) {
    super(message);
    this.position = position;
  }
}

/** @throws JsonTextError with line and column in its message. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const position = positionOf(text, message);
    const place =
      position === undefined ? '' : `, line ${lineOf(text, position)}, column ${columnOf(text, position)}`;
    throw new JsonTextError(`is not JSON${place}: ${reasonOf(message)}`, position);
  }
}

/** Returns the offset of a syntax error; browsers report an offset, a line and column, or only the end of input. */
function positionOf(text: string, message: string): number | undefined {
  const offset = /position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return Math.min(Number(offset), text.length);
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined) {
    const before = text.split('\n').slice(0, Number(line) - 1);
    return before.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1;
  }
  return /end of (?:JSON )?(?:input|data)/i.test(message) ? text.length : undefined;
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

function columnOf(text: string, position: number): number {
  return position - text.lastIndexOf('\n', position - 1);
}

/** Removes the position and the quoted text from a browser's message: `parseJson` adds the position itself. */
function reasonOf(message: string): string {
  const reason = message
    .replace(/^JSON\.parse: /, '')
    .replace(/,? ?(?:\.\.\.)?".*" is not valid JSON$/s, '')
    .replace(/ ?(?:in JSON )?at (?:position|line) .*$/s, '')
    .replace(/ of the JSON data$/, '');
  return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
}
