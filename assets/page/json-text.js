/** Text that has to be JSON: the value, or where it is wrong. */

/** @throws Error whose message names line and column, and whose `position` is the offset, where the browser reports one. */
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

/** Browsers name an offset, or a line and a column, or only that the text ended. */
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

/** The reason alone: the place is given by us, and the text is in view. */
function reasonOf(message) {
  const reason = message
    .replace(/^JSON\.parse: /, '')
    .replace(/,? ?(?:\.\.\.)?".*" is not valid JSON$/s, '')
    .replace(/ ?(?:in JSON )?at (?:position|line) .*$/s, '')
    .replace(/ of the JSON data$/, '');
  return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
}
