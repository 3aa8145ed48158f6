/** Keeps an "always" answer as a rule of the person's own configuration. */

import { isRecord } from '../lib/json-rpc.ts';
import { change } from './edit.ts';
import type { Home } from './home.ts';

export async function allowAlways(home: Home, rule: string): Promise<void> {
  await change(home.config, { home }, (root) => {
    const permissions = isRecord(root) ? root['permissions'] : undefined;
    const allow = isRecord(permissions) && Array.isArray(permissions['allow']) ? permissions['allow'] : [];
    if (allow.includes(rule)) return undefined;
    return { path: ['permissions', 'allow'], value: [...allow, rule] };
  });
}
