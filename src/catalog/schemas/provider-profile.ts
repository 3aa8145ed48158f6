/** The published schema rules of each provider, as data. */

import type { JsonType } from './schema-node.ts';

export type Provider = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'ai-sdk';

export interface Profile {
  /** Rules for property names; absent: any name. */
  readonly propertyName?: { readonly allowed: RegExp; readonly foreign: RegExp };
  /** Every object lists its properties, requires all of them and allows no others. */
  readonly closed: boolean;
  /** An object without listed properties is passed as JSON text, because it could not contain anything. */
  readonly jsonText: boolean;
  /** How "or null" and "this type or that" are expressed. */
  readonly alternatives: 'any-list' | 'scalar-list' | 'nullable';
  /** Enums may contain strings only. */
  readonly stringEnums: boolean;
  /** `title`, `default`, `examples`, `const`, `oneOf` are supported; otherwise they go into the description. */
  readonly annotations: boolean;
  /** Supported bounds; absent: all of them. */
  readonly limits?: ReadonlySet<string>;
  /** Supported values of `format`, by type; absent: all of them. */
  readonly formats?: Readonly<Partial<Record<JsonType, ReadonlySet<string>>>>;
  /** Patterns with look-around or back references are rejected. */
  readonly simplePatterns: boolean;
  /** Limit on nesting, counting the root as 1. */
  readonly maxDepth: number;
  readonly maxProperties?: number;
  readonly maxEnumValues?: number;
  /** Limit for one string enum with more than `longEnum` values. */
  readonly maxLongEnumChars?: number;
  readonly longEnum?: number;
  /** Limit on property names, enum and const values together. */
  readonly maxNameChars?: number;
}

const NAME_CHARS = 64;

/** Our own limit if a provider publishes none: below the reader's, so that our output is never cut again. */
const DEFAULT_MAX_DEPTH = 24;

const LENIENT: Profile = {
  closed: false,
  jsonText: false,
  alternatives: 'any-list',
  stringEnums: false,
  annotations: true,
  simplePatterns: false,
  maxDepth: DEFAULT_MAX_DEPTH,
};

const ANTHROPIC: Profile = {
  ...LENIENT,
  propertyName: { allowed: new RegExp(`^[a-zA-Z0-9_.-]{1,${NAME_CHARS}}$`), foreign: /[^a-zA-Z0-9_.-]/gu },
};

export const PROFILES: Readonly<Record<Provider, Profile>> = {
  openai: LENIENT,
  anthropic: ANTHROPIC,
  // Passes schemas on to any chosen model, including Anthropic's.
  'ai-sdk': ANTHROPIC,
  'openai-strict': {
    closed: true,
    jsonText: true,
    alternatives: 'scalar-list',
    stringEnums: false,
    annotations: false,
    limits: new Set([
      'pattern',
      'format',
      'multipleOf',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minItems',
      'maxItems',
    ]),
    formats: {
      string: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
    },
    simplePatterns: true,
    maxDepth: 10,
    maxProperties: 5_000,
    maxEnumValues: 1_000,
    longEnum: 250,
    maxLongEnumChars: 15_000,
    maxNameChars: 120_000,
  },
  gemini: {
    propertyName: {
      allowed: new RegExp(`^[a-zA-Z_][a-zA-Z0-9_]{0,${NAME_CHARS - 1}}$`),
      foreign: /[^a-zA-Z0-9_]/gu,
    },
    closed: false,
    jsonText: true,
    alternatives: 'nullable',
    stringEnums: true,
    annotations: false,
    limits: new Set([
      'pattern',
      'format',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      'minLength',
      'maxLength',
      'minProperties',
      'maxProperties',
    ]),
    formats: {
      string: new Set(['date-time']),
      number: new Set(['float', 'double']),
      integer: new Set(['int32', 'int64']),
    },
    simplePatterns: true,
    maxDepth: DEFAULT_MAX_DEPTH,
  },
};

/** The longest name that every provider accepts, for renaming. */
export const MAX_PROPERTY_NAME_CHARS: number = NAME_CHARS;
