/** Whether a whole address fits a whole template, in time that is bounded for every template. */

/** What is longer fits no template as a whole. */
const MAX_ADDRESS_CHARS = 4_096;
const MAX_TEMPLATE_CHARS = 2_048;
const MAX_EXPRESSIONS = 32;

const EXPRESSION = /\{([^{}]*)\}/;
/** Expressions whose values have slashes, or that begin with a character of their own. */
const WIDE = /^[+#./;?&=,!@|]/;

/** The literal text before the first expression. */
export function prefixOf(uriTemplate: string): string {
  return uriTemplate.split('{')[0] ?? '';
}

/**
 * A test of addresses: literal parts have to be there in their order, `{x}` is any text without a slash, and every
 * other expression is any text. Undefined for templates that are too long for it.
 */
export function templateMatcher(uriTemplate: string): ((uri: string) => boolean) | undefined {
  if (uriTemplate.length > MAX_TEMPLATE_CHARS) return undefined;
  // Literal parts are at even places, expressions at odd ones.
  const parts = uriTemplate.split(EXPRESSION);
  if (parts.length > 2 * MAX_EXPRESSIONS + 1) return undefined;
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  return (uri) => {
    if (uri.length > MAX_ADDRESS_CHARS || !uri.startsWith(first) || !uri.endsWith(last)) return false;
    let ends = [0];
    for (const [at, part] of parts.entries()) {
      if (ends.length === 0) return false;
      ends = at % 2 === 1 ? afterValue(uri, ends, WIDE.test(part)) : afterLiteral(uri, ends, part);
    }
    return ends.at(-1) === uri.length;
  };
}

function afterLiteral(uri: string, starts: readonly number[], literal: string): number[] {
  return starts.flatMap((start) => (uri.startsWith(literal, start) ? [start + literal.length] : []));
}

/** Every place where the value of an expression can end, in order, each once. */
function afterValue(uri: string, starts: readonly number[], isWide: boolean): number[] {
  const ends: number[] = [];
  let next = 0;
  for (const start of starts) {
    if (start < next) continue; // Within what an earlier one has reached.
    const slash = isWide ? -1 : uri.indexOf('/', start);
    const to = slash === -1 ? uri.length : slash;
    for (let end = start; end <= to; end += 1) ends.push(end);
    next = to + 1;
  }
  return ends;
}
