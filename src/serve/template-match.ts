/** Matches a whole address against a whole URI template, in bounded time for every template. */

/** A longer address matches no template. */
const MAX_ADDRESS_CHARS = 4_096;
const MAX_TEMPLATE_CHARS = 2_048;
const MAX_EXPRESSIONS = 32;

const EXPRESSION = /\{([^{}]*)\}/;
/** Expressions whose values may contain slashes, or that begin with an operator. */
const WIDE = /^[+#./;?&=,!@|]/;

/** Returns the literal text before the first expression. */
export function prefixOf(uriTemplate: string): string {
  return uriTemplate.split('{')[0] ?? '';
}

/**
 * Returns a test of addresses: literal parts must occur in order, `{x}` matches any text without a slash, and every
 * other expression matches any text. Undefined for templates that are too long.
 */
export function templateMatcher(uriTemplate: string): ((uri: string) => boolean) | undefined {
  if (uriTemplate.length > MAX_TEMPLATE_CHARS) return undefined;
  // Literal parts have even indexes, expressions odd ones.
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

/** Returns every position where the value of an expression can end, in order, each once. */
function afterValue(uri: string, starts: readonly number[], isWide: boolean): number[] {
  const ends: number[] = [];
  let next = 0;
  for (const start of starts) {
    if (start < next) continue; // Already covered by an earlier one.
    const slash = isWide ? -1 : uri.indexOf('/', start);
    const to = slash === -1 ? uri.length : slash;
    for (let end = start; end <= to; end += 1) ends.push(end);
    next = to + 1;
  }
  return ends;
}
