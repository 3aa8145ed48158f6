/** The flag `-s/--scope`: which of the three places a command writes to. */

import { Option } from 'commander';
import type { ServerSpec } from '../config/entry.ts';
import { type Flags, textFlag } from './verb.ts';

/** Scopes that a person's command can write. */
export type WritableScope = 'local' | 'project' | 'user';

const SCOPES: readonly WritableScope[] = ['local', 'project', 'user'];

export function scopeOption(description: string): Option {
  return new Option('-s, --scope <scope>', description).choices(SCOPES);
}

export function scopeFlag(flags: Flags): WritableScope | undefined {
  const given = textFlag(flags, 'scope');
  return SCOPES.find((scope) => scope === given);
}

export function isWritable(scope: ServerSpec['scope']): scope is WritableScope {
  return SCOPES.some((each) => each === scope);
}

/** What a scope means, in the words of somebody who has to choose one. */
export const SCOPE_MEANING: Readonly<Record<ServerSpec['scope'], string>> = {
  local: 'you, in this project',
  project: 'everybody who works on this project',
  user: 'you, everywhere',
  code: 'this run only',
  plugin: 'a plugin',
  managed: 'your organisation',
};
