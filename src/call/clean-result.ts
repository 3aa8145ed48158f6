/** Cleans every text of a result that a model may read; a clean result is returned unchanged. */

import type { CallResult } from '../catalog/accept-result.ts';
import { cleanBlock } from '../catalog/clean-block.ts';
import { cleanRecord, cleanValue, mapSame } from '../policy/clean-value.ts';

export function cleanResult(result: CallResult): CallResult {
  const content = mapSame(result.content, cleanBlock);
  const { structuredContent, _meta, extra } = result;
  const structured = structuredContent === undefined ? undefined : cleanValue(structuredContent);
  const meta = _meta === undefined ? undefined : cleanRecord(_meta);
  const others = extra === undefined ? undefined : cleanRecord(extra);
  const isClean = content === result.content && structured === structuredContent;
  if (isClean && meta === _meta && others === extra) return result;
  return {
    ...result,
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(meta === undefined ? {} : { _meta: meta }),
    ...(others === undefined ? {} : { extra: others }),
  };
}
