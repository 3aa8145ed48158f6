/** Finds the parts of a tool's schema that arguments do not match, so that a model can correct them (CAT-12). */

import type { ErrorObject } from 'ajv';
import { withoutTexts } from '../catalog/compact-definition.ts';
import { propertiesOf, resolvedSchema, type Schema } from '../catalog/schemas/object-members.ts';
import { signatureOf, typeText } from '../catalog/signature.ts';
import { isRecord } from '../lib/json.ts';
import { cleanValue } from '../policy/clean-value.ts';

/** Marks the target of a reference in a compiled schema; no schema uses this keyword by accident. */
export const COUNTED = 'plugboard:counted';
/** Limit on one part; a longer one loses its descriptions, and then becomes a type. */
const MAX_PART_CHARS = 3_000;
/** Limit on all parts together. */
const MAX_ALL_CHARS = 4_000;
const MAX_PARTS = 8;
/** References that are replaced by their target in one part. */
const MAX_INLINED = 40;
const MAX_DEPTH = 12;
const UNIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
const UNKNOWN_NAME: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties']);

const ALL_ARGUMENTS = '(arguments)';

/**
 * The schemas that were not matched, by the name of the argument, such as `items[0].name`; a signature for an object
 * with an unknown name.
 */
export type FailedParts = Readonly<Record<string, unknown>>;

/** Returns the failed parts of a schema; `fieldName` converts the path of a value to the name of an argument. */
export function failedParts(
  errors: readonly ErrorObject[],
  schema: Schema,
  fieldName: (instancePath: string) => string,
): FailedParts {
  const parts: Record<string, unknown> = Object.create(null);
  let chars = 0;
  for (const error of withoutBranches(errors)) {
    const [path, part] = partOf(error, schema);
    const name = fieldName(path) || ALL_ARGUMENTS;
    if (part === undefined || Object.hasOwn(parts, name)) continue;
    const shown = fitting(part, schema);
    chars += name.length + JSON.stringify(shown).length;
    if (Object.keys(parts).length === MAX_PARTS || chars > MAX_ALL_CHARS) break;
    parts[name] = cleanValue(shown);
  }
  return { ...parts };
}

/** Drops the errors inside a union that failed: the union as a whole is the part. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => UNIONS.has(keyword));
  if (unions.length === 0) return errors;
  return errors.filter(
    (error) =>
      !unions.some((union) => {
        if (union === error) return false;
        const isInside = error.instancePath.startsWith(`${union.instancePath}/`);
        // The outer one of two unions at the same place is reported last.
        return (
          isInside ||
          (error.instancePath === union.instancePath && errors.indexOf(error) < errors.indexOf(union))
        );
      }),
  );
}

/** Returns the path of a value and the schema that it does not match. */
function partOf(error: ErrorObject, root: Schema): readonly [path: string, part: unknown] {
  const { instancePath, parentSchema: holder, keyword, params } = error;
  if (!isRecord(holder)) return [instancePath, undefined];
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    const properties = propertiesOf(holder, root);
    return [
      `${instancePath}/${escaped(missing)}`,
      Object.hasOwn(properties, missing) ? properties[missing] : {},
    ];
  }
  if (keyword === 'if') return [instancePath, undefined];
  // The names that are accepted; their schemas are not what failed.
  if (UNKNOWN_NAME.has(keyword)) return [instancePath, signatureOf(inlined(holder, root))];
  return [instancePath, holder];
}

/** Returns a part as it is, without its descriptions, or as its type: the first that is short enough. */
function fitting(part: unknown, root: Schema): unknown {
  if (!isRecord(part)) return part;
  const whole = inlined(part, root);
  if (JSON.stringify(whole).length <= MAX_PART_CHARS) return whole;
  const short = withoutTexts(whole);
  if (JSON.stringify(short).length <= MAX_PART_CHARS) return short;
  return isRecord(part['properties']) ? signatureOf(whole) : typeText(part, root).slice(0, MAX_PART_CHARS);
}

/** Replaces references by their targets, because the definitions that they point to are not part of it. */
function inlined(part: Schema, root: Schema): Schema {
  let left = MAX_INLINED;
  const walk = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) return isRecord(value) ? {} : value;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    if (!isRecord(value)) return value;
    const isReference = typeof value['$ref'] === 'string';
    if (isReference) left -= 1;
    const target = isReference ? (left < 0 ? {} : resolvedSchema(value, root)) : value;
    const { $defs: _defs, definitions: _definitions, [COUNTED]: _mark, ...rest } = target;
    return Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, walk(member, depth + 1)]));
  };
  const result = walk(part, 0);
  return isRecord(result) ? result : {};
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
