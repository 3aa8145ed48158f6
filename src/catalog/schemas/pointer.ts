/** Resolves a `$ref` within its own schema. Never fetches anything (A18). */

import { attempt } from '../../lib/attempt.ts';

/** Returns the target; undefined if the reference leaves the document or has no target. */
export function followPointer(root: unknown, ref: string): { readonly target: unknown } | undefined {
  if (ref === '#' || ref === '') return { target: root };
  if (!ref.startsWith('#/')) return undefined;
  let target = root;
  for (const token of ref.slice('#/'.length).split('/')) {
    const key = unescapeToken(token);
    if (key === undefined || typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) {
      return undefined;
    }
    target = (target as Record<string, unknown>)[key];
  }
  return { target };
}

function unescapeToken(token: string): string | undefined {
  return attempt(() => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'), undefined);
}
