/** Parses JSON that a person typed, with error positions. */

/** @throws Error with line and column in its message and the offset as `position`, if the browser reports them. */
export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = positionOf(text, error.message);
    const place =
      position === undefined ? '' : `, line ${lineOf(text, position)}, column ${columnOf(text, position)}`;
    throw Object.assign(new Error(`is not JSON${place}: ${reasonOf(error.message)}`), { position });
  }
}

/** Returns the offset of a syntax error; browsers report an offset, a line and column, or only the end of input. */
function positionOf(text, message) {
  const offset = /position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return Math.min(Number(offset), text.length);
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined) {
    const before = text.split('\n').slice(0, Number(line) - 1);
    return before.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1;
  }
  return /end of (?:JSON )?(?:input|data)/i.test(message) ? text.length : undefined;
}

const lineOf = (text, position) => text.slice(0, position).split('\n').length;
const columnOf = (text, position) => position - text.lastIndexOf('\n', position - 1);

/** Removes the position and the quoted text from a browser's message: `parseJson` adds the position itself. */
function reasonOf(message) {
  const reason = message
    .replace(/^JSON\.parse: /, '')
    .replace(/,? ?(?:\.\.\.)?".*" is not valid JSON$/s, '')
    .replace(/ ?(?:in JSON )?at (?:position|line) .*$/s, '')
    .replace(/ of the JSON data$/, '');
  return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
}
