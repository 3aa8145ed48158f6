/** Predicates on schema nodes, and functions that make a node consistent with its types. */

import { uniteObjects } from './merge-nodes.ts';
import { matchesTypes, type SchemaNode, typeOfValue } from './schema-node.ts';

export function onlyRequires(node: SchemaNode): boolean {
  return (
    node.required.size > 0 &&
    node.properties.size === 0 &&
    node.anyOf === undefined &&
    node.enum === undefined &&
    node.types.every((type) => type === 'object')
  );
}

/** Removes parts that do not apply to the node's types; an enum takes precedence over a type. */
export function coherent(node: SchemaNode): SchemaNode {
  if (isCoherent(node)) return node;
  const fitting = node.enum?.filter((value) => matchesTypes(value, node.types));
  const types = fitting?.length === 0 ? [...new Set((node.enum ?? []).map(typeOfValue))] : node.types;
  const { enum: values, additional, items, ...rest } = node;
  const isObject = types.includes('object');
  return {
    ...rest,
    types,
    ...(values === undefined ? {} : { enum: fitting?.length ? fitting : values }),
    ...(isObject ? {} : { properties: new Map(), required: new Set() }),
    ...(isObject && additional !== undefined ? { additional } : {}),
    ...(items !== undefined && types.includes('array') ? { items } : {}),
  };
}

/** Fast path without a copy: no enum, and no parts that belong to another type. */
function isCoherent({ types, enum: values, properties, required, additional, items }: SchemaNode): boolean {
  if (values !== undefined) return false;
  const saysObject = properties.size > 0 || required.size > 0 || additional !== undefined;
  return (!saysObject || types.includes('object')) && (items === undefined || types.includes('array'));
}

export function isObjectLike(
  node: Pick<SchemaNode, 'properties' | 'required' | 'additional' | 'items'>,
): boolean {
  return (
    node.properties.size > 0 ||
    node.required.size > 0 ||
    node.additional !== undefined ||
    node.items !== undefined
  );
}

/** True for a bare union, which can be merged into an outer union of the same kind. */
export function isPlainUnion(node: SchemaNode): boolean {
  const { anyOf, title, description, default: fallback, examples } = node;
  return anyOf !== undefined && [title, description, fallback, examples].every((word) => word === undefined);
}

/** Flattens nested unions at the root into one list of branches. */
export function flattened(node: SchemaNode): SchemaNode {
  return node.anyOf === undefined
    ? node
    : uniteObjects({ ...node, types: ['object'] }, node.anyOf.map(flattened));
}
