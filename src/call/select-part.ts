/** Pipeline stage: parses the selection of a call before anyone is asked, and applies it to results. */

import type { CallResult } from '../catalog/accept-result.ts';
import { asPlugboardError } from '../errors.ts';
import type { Select } from '../lib/jmespath/jmespath-select.ts';
import type { Stage } from './call.ts';
import { dataOf } from './result-store.ts';

export const parseSelection: Stage = (context, next) => (call) => {
  const { select } = call;
  if (select === undefined) return next(call);
  return context.select().then((parse) => {
    call.selection = parse(select);
    return next(call);
  });
};

/**
 * Returns the selected part of a result: as text, and as structured content if it is an object. If the expression does
 * not fit the result, all of it is returned with the reason, because the tool has already done its work.
 */
export function selectedPart(result: CallResult, select: Select): CallResult {
  if (result.isError) return result;
  const { structuredContent: _whole, extra: _extra, content, ...rest } = result;
  try {
    const value = select(selectableOf(result));
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return { ...rest, content: [{ type: 'text', text }], ...(isObject ? { structuredContent: value } : {}) };
  } catch (thrown) {
    const why = asPlugboardError(thrown).message;
    const note = { type: 'text', text: `[Nothing was selected. ${why}]` } as const;
    return { ...result, content: [...content, note] };
  }
}

/** Returns the value that an expression is applied to. */
function selectableOf({ structuredContent, content }: CallResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [only, ...more] = content;
  return only?.type === 'text' && more.length === 0 ? dataOf(only.text) : { content };
}
