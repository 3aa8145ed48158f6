/** Describes an entry for display: hides secret values behind their source, and keeps references visible. */

import { basename } from 'node:path';
import { isRecord } from '../lib/json.ts';
import { ENTRY_KEYS } from './config-keys.ts';
import type { ServerEntry, ServerSpec } from './entry.ts';
import { partsOf } from './reference.ts';
import {
  hideSecretsInArgs,
  hideSecretsInText,
  hideSecretsInUrl,
  isSecretName,
  looksLikeToken,
} from './secret-shapes.ts';
import { TRANSPORTS, type TransportName, transportKindOf } from './transport-kinds.ts';

/** The replacement text, which names the file of the value. */
type Mask = string;

/**
 * Returns the entry as `get` and `list` print it. Hides values of env and headers, except booleans, levels and small
 * numbers in env, and everything else that looks like a secret; omits keys without effect in this scope.
 *
 * @example
 * describeEntry(spec); // { url: 'https://…', headers: { 'X-Key': '${DOCS_KEY}', 'X-Org': '(set in config.json)' } }
 */
export function describeEntry(spec: Pick<ServerSpec, 'entry' | 'raw' | 'file'>): Record<string, unknown> {
  const mask = spec.file === undefined ? '(set in code)' : `(set in ${basename(spec.file)})`;
  const shown: [string, unknown][] = [];
  for (const [key, value] of Object.entries(spec.raw)) {
    if (!ENTRY_KEYS.has(key)) shown.push([key, hideUnknown(key, value, mask)]);
    else if (Object.hasOwn(spec.entry, key)) shown.push([key, hide(key, value, mask)]);
  }
  return Object.fromEntries(shown);
}

/** Returns the transport of a server. */
export function transportOf(entry: ServerEntry): TransportName {
  return TRANSPORTS[transportKindOf(entry)].name;
}

function hide(key: string, value: unknown, mask: Mask): unknown {
  switch (key) {
    case 'env':
      return mapMembers(value, (name, member) =>
        isPlainSetting(name, member) ? member : hideValue(member, mask),
      );
    case 'headers':
      return mapMembers(value, (_, member) => hideValue(member, mask));
    case 'args':
      return Array.isArray(value) ? hideSecretsInArgs(value.map(String), mask) : value;
    case 'url':
      return typeof value === 'string' ? hideSecretsInUrl(value, mask) : value;
    case 'command':
    case 'headersHelper':
      return typeof value === 'string' ? hideSecretsInText(value, mask) : value;
    case 'oauth':
    case 'sandbox':
      return hideUnknown(key === 'oauth' ? '' : key, value, mask);
    default:
      return value;
  }
}

/** Booleans, log levels and small numbers are not secret, unless the name indicates it. */
const PLAIN_SETTING =
  /^(?:true|false|yes|no|on|off|none|null|trace|debug|verbose|info|warn|warning|error|silent|production|development|test|utf-?8|\d{1,5})$/i;
const NUMBER_OF_A_PERSON = /pin|otp|code|cvc|cvv/i;

function isPlainSetting(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || isSecretName(name) || NUMBER_OF_A_PERSON.test(name)) return false;
  return PLAIN_SETTING.test(value) || isPlainPath(value);
}

/** True for a path from the root, the home folder or the working folder, without token-like segments. */
function isPlainPath(value: string): boolean {
  return PLAIN_PATH.test(value) && !value.split(/[\\/]/).some(looksLikeToken);
}

const PLAIN_PATH = /^(?:[A-Za-z]:[\\/]|~?\/|\.{1,2}\/)[\w .@+\\/-]{1,300}$/;

/** Hides a value that is always secret; shows only its references and its auth scheme. */
function hideValue(value: unknown, mask: Mask): unknown {
  if (typeof value !== 'string') return mask;
  const parts = partsOf(value);
  if (!parts.some((part) => part.kind === 'variable' || part.kind === 'foreign')) return mask;
  return parts
    .map((part) => {
      switch (part.kind) {
        case 'variable':
          return part.fallback === undefined ? `\${${part.name}}` : `\${${part.name}:-…}`;
        case 'foreign':
          return `\${${part.scheme}:${part.id}}`;
        case 'literal':
          return /^\s*((bearer|basic|token)\s+)?$/i.test(part.text) ? part.text : '…';
        case 'escape':
          return '…';
        default:
          return part satisfies never;
      }
    })
    .join('');
}

/** Hides values of unknown or open keys by the name of the key and the format of the value. */
function hideUnknown(key: string, value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') {
    if (isSecretName(key) || looksLikeToken(value)) return hideValue(value, mask);
    return hideSecretsInText(value, mask);
  }
  if (Array.isArray(value)) return value.map((item) => hideUnknown(key, item, mask));
  return mapMembers(value, (name, member) => hideUnknown(name, member, mask));
}

function mapMembers(value: unknown, change: (key: string, member: unknown) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(key, member)]));
}
