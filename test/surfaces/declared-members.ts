/** Reads declaration files: the names that an entry point exports, and the members of its types. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';

/** A node of the syntax tree; every use checks the type first. */
interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Deeper members belong to types that have names of their own. */
const MAX_DEPTH = 8;

/** Every exported name of a declaration file with the members of its type: `Host`, `Host.call`, `Scope = "user"`. */
export function declaredNames(file: string): string[] {
  const reader = new DeclarationReader();
  return [...reader.exports(file)].flatMap(([name, [from, local]]) => [
    name,
    ...new Set(reader.members(from, local, name)),
  ]);
}

type Origin = readonly [file: string, name: string];

class DeclarationReader {
  readonly #bodies = new Map<string, readonly Node[]>();

  /** By exported name: where it is declared, and as what. */
  exports(file: string): Map<string, Origin> {
    const found = new Map<string, Origin>();
    for (const statement of this.#body(file)) {
      if (statement.type === 'ExportAllDeclaration') {
        const from = this.#resolve(file, statement);
        if (from !== undefined) for (const [name, origin] of this.exports(from)) found.set(name, origin);
      }
      if (statement.type !== 'ExportNamedDeclaration') continue;
      const from = this.#resolve(file, statement) ?? file;
      for (const specifier of nodes(statement['specifiers'])) {
        found.set(nameOf(specifier['exported']), [from, nameOf(specifier['local'])]);
      }
      for (const name of declaredIn(statement['declaration'])) found.set(name, [file, name]);
    }
    return found;
  }

  /** Members of a type, each below `path`; nothing for what is declared in another package. */
  members(file: string, name: string, path: string, depth = 0): string[] {
    if (depth > MAX_DEPTH) return [];
    for (const statement of this.#body(file)) {
      const declaration = node(statement['declaration']) ?? statement;
      if (declaredIn(declaration).includes(name)) return this.#ofDeclaration(file, declaration, path, depth);
      for (const specifier of nodes(statement['specifiers'])) {
        const isHere = nameOf(specifier['local']) === name || nameOf(specifier['exported']) === name;
        const from = isHere ? this.#resolve(file, statement) : undefined;
        if (from === undefined) continue;
        return this.members(from, nameOf(specifier['imported'] ?? specifier['local']), path, depth + 1);
      }
    }
    return [];
  }

  #ofDeclaration(file: string, declaration: Node, path: string, depth: number): string[] {
    switch (declaration.type) {
      case 'TSInterfaceDeclaration':
        return [
          ...nodes(declaration['extends']).flatMap(({ expression }) =>
            this.members(file, nameOf(expression), path, depth + 1),
          ),
          ...this.#ofMembers(file, node(declaration['body'])?.['body'], path, depth),
        ];
      case 'ClassDeclaration':
        return [
          ...this.members(file, nameOf(declaration['superClass']), path, depth + 1),
          ...this.#ofMembers(file, node(declaration['body'])?.['body'], path, depth),
        ];
      case 'TSTypeAliasDeclaration':
        return this.#ofType(file, declaration['typeAnnotation'], path, depth);
      default:
        return [];
    }
  }

  #ofMembers(file: string, members: unknown, path: string, depth: number): string[] {
    return nodes(members).flatMap((member) => {
      const key = node(member['key']);
      if (key === undefined || key.type === 'PrivateIdentifier' || member['accessibility'] === 'private')
        return [];
      const below = `${path}.${nameOf(key)}`;
      const inner = node(member['typeAnnotation'])?.['typeAnnotation'];
      return [below, ...this.#ofType(file, inner, below, depth + 1, false)];
    });
  }

  /** Named types of members are listed under their own names; of those only values are listed again (`follows`). */
  #ofType(file: string, type: unknown, path: string, depth: number, follows = true): string[] {
    const found = node(type);
    if (found === undefined || depth > MAX_DEPTH) return [];
    const each = (parts: unknown): string[] =>
      nodes(parts).flatMap((part) => this.#ofType(file, part, path, depth + 1, follows));
    switch (found.type) {
      case 'TSTypeLiteral':
        return this.#ofMembers(file, found['members'], path, depth);
      case 'TSUnionType':
      case 'TSIntersectionType':
        return each(found['types']);
      case 'TSParenthesizedType':
      case 'TSTypeOperator':
        return each([found['typeAnnotation']]);
      case 'TSArrayType':
        return each([found['elementType']]);
      case 'TSLiteralType': {
        const value = node(found['literal'])?.['value'];
        return typeof value === 'string' ? [`${path} = ${JSON.stringify(value)}`] : [];
      }
      case 'TSTypeReference': {
        if (nameOf(found['typeName']) === 'Omit') return this.#withoutOmitted(file, found, path, depth);
        const given = each(node(found['typeArguments'])?.['params']);
        const members = this.members(file, nameOf(found['typeName']), path, depth + 1);
        return [
          ...(follows ? members : members.filter((member) => member.startsWith(`${path} = `))),
          ...given,
        ];
      }
      default:
        return [];
    }
  }

  #withoutOmitted(file: string, omit: Node, path: string, depth: number): string[] {
    const [whole, keys] = nodes(node(omit['typeArguments'])?.['params']);
    const omitted = this.#ofType(file, keys, '', depth + 1).map(
      (key) => `${path}.${JSON.parse(key.slice(3))}`,
    );
    return this.#ofType(file, whole, path, depth + 1).filter(
      (member) => !omitted.some((name) => member === name || /^[. ]/.test(member.split(name)[1] ?? '')),
    );
  }

  #body(file: string): readonly Node[] {
    const known = this.#bodies.get(file);
    if (known !== undefined) return known;
    const { program } = parseSync(file, readFileSync(file, 'utf8'));
    const body = nodes(program.body);
    this.#bodies.set(file, body);
    return body;
  }

  #resolve(file: string, statement: Node): string | undefined {
    const source = node(statement['source'])?.['value'];
    if (typeof source !== 'string' || !source.startsWith('.')) return undefined;
    const found = join(dirname(file), source.replace(/\.(?:ts|js)$/, '.d.ts'));
    return existsSync(found) ? found : undefined;
  }
}

function declaredIn(value: unknown): string[] {
  const declaration = node(value);
  if (declaration === undefined) return [];
  if (declaration.type === 'VariableDeclaration') {
    return nodes(declaration['declarations']).map(({ id }) => nameOf(id));
  }
  const isDeclaration = /^(?:TS(?:Interface|TypeAlias)|Class|Function|TSDeclareFunction)/.test(
    declaration.type,
  );
  return isDeclaration ? [nameOf(declaration['id'])] : [];
}

function node(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;
}

function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.flatMap((each: unknown) => node(each) ?? []) : [];
}

/** The name of an identifier, or a key that is written as a string. */
function nameOf(value: unknown): string {
  const found = node(value);
  return String(found?.['name'] ?? found?.['value'] ?? '');
}
