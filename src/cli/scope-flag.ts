/** The flag `-s/--scope`. Apart from `flags.ts`, because it needs commander, which `serve` and `chat` do without. */

import { Option } from 'commander';
import type { ServerSpec } from '../config/entry.ts';
import { EDITABLE_SCOPES, type EditableScope } from '../config/scopes.ts';
import { type Flags, textFlag } from './cli-command.ts';

export function scopeOption(description: string): Option {
  return new Option('-s, --scope <scope>', description).choices(EDITABLE_SCOPES);
}

export function scopeFlag(flags: Flags): EditableScope | undefined {
  const given = textFlag(flags, 'scope');
  return EDITABLE_SCOPES.find((scope) => scope === given);
}

/** Describes each scope for a person who has to choose one. */
export const SCOPE_MEANING: Readonly<Record<ServerSpec['scope'], string>> = {
  local: 'only you, only in this project',
  project: 'everyone who works on this project',
  user: 'only you, in every project',
  code: 'this run only',
  plugin: 'a plugin',
  managed: 'your organisation',
};
