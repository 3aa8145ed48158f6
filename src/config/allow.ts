/** Saves an "always" answer as an allow rule in the user's configuration, for servers of one owner only. */

import { change } from './edit-config.ts';
import type { Home } from './home.ts';
import { allowPath, type Identity } from './rules.ts';
import { valueAt } from './value-at.ts';

export async function allowAlways(home: Home, spec: Identity, rule: string): Promise<void> {
  await change(home.config, { home }, (root) => {
    const path = allowPath(spec, root);
    const found = valueAt(root, path);
    const allow = Array.isArray(found) ? found : [];
    return allow.includes(rule) ? undefined : { path, value: [...allow, rule] };
  });
}
