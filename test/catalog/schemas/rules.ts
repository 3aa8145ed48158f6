/** The providers' published rules for tool schemas, written down a second time and apart from the converter. */

import type { Provider } from '../../../src/catalog/schemas/provider-profile.ts';

type Json = Record<string, unknown>;

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const COMMON_KEYWORDS =
  'type title description default examples enum const properties required additionalProperties items anyOf oneOf ' +
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format ' +
  'minItems maxItems uniqueItems minProperties maxProperties';
const STRICT_KEYWORDS =
  'type description enum const properties required additionalProperties items anyOf ' +
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format minItems maxItems';
const GEMINI_KEYWORDS =
  'type description nullable enum properties required items anyOf minimum maximum minLength maxLength pattern format ' +
  'minItems maxItems minProperties maxProperties';

interface Node {
  readonly schema: Json;
  readonly path: string;
  /** Objects and arrays inside each other, the root being 1. */
  readonly level: number;
}

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every schema in a schema; what should be one and is not becomes a fault. */
function collect(root: Json, faults: string[]): Node[] {
  const nodes: Node[] = [];
  const waiting: { schema: unknown; path: string; level: number }[] = [{ schema: root, path: '#', level: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { schema, path, level } = next;
    if (!isJson(schema)) {
      faults.push(`${path} is no schema but ${JSON.stringify(schema)}`);
      continue;
    }
    nodes.push({ schema, path, level });
    if (schema.properties !== undefined) {
      if (!isJson(schema.properties)) faults.push(`${path}/properties is no object`);
      else
        for (const [name, inner] of Object.entries(schema.properties))
          waiting.push({ schema: inner, path: `${path}/${name}`, level: level + 1 });
    }
    if (schema.items !== undefined)
      waiting.push({ schema: schema.items, path: `${path}/[]`, level: level + 1 });
    if (isJson(schema.additionalProperties))
      waiting.push({ schema: schema.additionalProperties, path: `${path}/*`, level: level + 1 });
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const branches = schema[keyword];
      if (branches === undefined) continue;
      if (!Array.isArray(branches) || branches.length < 2) faults.push(`${path}/${keyword} has no branches`);
      else
        branches.forEach(
          (branch, i) => void waiting.push({ schema: branch, path: `${path}/${keyword}/${i}`, level }),
        );
    }
  }
  return nodes;
}

const typesOf = (schema: Json): unknown[] =>
  Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
const propertyNames = (schema: Json): string[] =>
  isJson(schema.properties) ? Object.keys(schema.properties) : [];

function checkCommon(root: Json, nodes: readonly Node[], keywords: string, faults: string[]): void {
  const allowed = new Set(keywords.split(' '));
  if (root.type !== 'object') faults.push('the root is no object');
  if (!isJson(root.properties)) faults.push('the root has no properties');
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'])
    if (keyword in root) faults.push(`${keyword} at the root`);
  for (const { schema, path } of nodes) {
    for (const keyword of Object.keys(schema))
      if (!allowed.has(keyword)) faults.push(`${path} uses ${keyword}`);
    const types = typesOf(schema);
    if (types.length === 0 && !schema.anyOf && !schema.oneOf) faults.push(`${path} has no type`);
    for (const type of types) if (!TYPES.has(String(type))) faults.push(`${path} is of type ${type}`);
    if (
      types.includes('array') &&
      !isJson(schema.items) &&
      schema.enum === undefined &&
      schema.const === undefined
    )
      faults.push(`${path} is an array without items`);
    if (types.includes('object') && !isJson(schema.properties))
      faults.push(`${path} is an object without properties`);
    if (schema.enum !== undefined && (!Array.isArray(schema.enum) || schema.enum.length === 0))
      faults.push(`${path} has an empty enum`);
    if (schema.required !== undefined) {
      const required = schema.required as string[];
      if (new Set(required).size !== required.length) faults.push(`${path} requires twice`);
      for (const name of required)
        if (!propertyNames(schema).includes(name)) faults.push(`${path} requires the unknown ${name}`);
    }
    if (schema.description !== undefined && typeof schema.description !== 'string')
      faults.push(`${path} has no text as description`);
  }
}

function checkStrict(nodes: readonly Node[], faults: string[]): void {
  let properties = 0;
  let values = 0;
  let chars = 0;
  for (const { schema, path, level } of nodes) {
    if (typesOf(schema).includes('object')) {
      if (schema.additionalProperties !== false) faults.push(`${path} is open`);
      const required = [...((schema.required as string[] | undefined) ?? [])].sort();
      if (JSON.stringify(required) !== JSON.stringify(propertyNames(schema).sort()))
        faults.push(`${path} does not require all`);
    }
    if (level > 10) faults.push(`${path} is on level ${level}`);
    const listed = [
      ...((schema.enum as unknown[] | undefined) ?? []),
      ...('const' in schema ? [schema.const] : []),
    ];
    if (listed.some((value) => typeof value === 'object' && value !== null))
      faults.push(`${path} lists objects`);
    const listedChars = listed.join('').length;
    if (listed.length > 250 && listedChars > 15_000) faults.push(`${path} has a long enum`);
    properties += propertyNames(schema).length;
    values += listed.length;
    chars += listedChars + propertyNames(schema).join('').length;
    if (/\(\?[=!<]|\\[1-9]/.test(String(schema.pattern ?? '')))
      faults.push(`${path} has a pattern with look-around`);
    const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
    if (schema.format !== undefined && !formats.includes(String(schema.format)))
      faults.push(`${path} has format ${schema.format}`);
  }
  if (properties > 5_000) faults.push(`${properties} properties`);
  if (values > 1_000) faults.push(`${values} enum values`);
  if (chars > 120_000) faults.push(`${chars} characters of names and values`);
}

function checkGemini(root: Json, nodes: readonly Node[], faults: string[]): void {
  const formats: Record<string, string[]> = {
    string: ['date-time', 'enum'],
    number: ['float', 'double'],
    integer: ['int32', 'int64'],
  };
  for (const { schema, path } of nodes) {
    if (Array.isArray(schema.type) || schema.type === 'null')
      faults.push(`${path} has type ${JSON.stringify(schema.type)}`);
    if (schema.anyOf !== undefined && Object.keys(schema).length > 1)
      faults.push(`${path} has more than anyOf`);
    if (schema.enum !== undefined) {
      if (schema.type !== 'string') faults.push(`${path} has an enum of ${schema.type}`);
      if (!(schema.enum as unknown[]).every((value) => typeof value === 'string' && value !== ''))
        faults.push(`${path} lists more than text`);
    }
    if (schema.format !== undefined && !formats[String(schema.type)]?.includes(String(schema.format)))
      faults.push(`${path} has format ${schema.format}`);
    if (schema !== root && schema.type === 'object' && propertyNames(schema).length === 0)
      faults.push(`${path} has no properties`);
    for (const name of propertyNames(schema))
      if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name))
        faults.push(`${path} has a property ${JSON.stringify(name)}`);
  }
}

function checkAnthropic(nodes: readonly Node[], faults: string[]): void {
  for (const { schema, path } of nodes) {
    for (const name of propertyNames(schema))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) faults.push(`${path} has a property ${JSON.stringify(name)}`);
  }
}

/** What a provider would refuse; empty when it would take the schema. */
export function faultsOf(schema: Json, provider: Provider): string[] {
  const faults: string[] = [];
  const nodes = collect(schema, faults);
  const keywords =
    provider === 'gemini'
      ? GEMINI_KEYWORDS
      : provider === 'openai-strict'
        ? STRICT_KEYWORDS
        : COMMON_KEYWORDS;
  checkCommon(schema, nodes, keywords, faults);
  if (provider === 'openai-strict') checkStrict(nodes, faults);
  if (provider === 'gemini') checkGemini(schema, nodes, faults);
  if (provider === 'anthropic' || provider === 'ai-sdk') checkAnthropic(nodes, faults);
  return faults;
}
