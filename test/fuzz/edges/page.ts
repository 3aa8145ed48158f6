/** What the page reads out of a tool's schema before it draws a form: any schema is one, if only of JSON by hand. */

import type { Edge } from '../edge.ts';
import { parsed, SCHEMA } from './lists.ts';

/** The part of the page that needs no browser. */
interface PageSchema {
  resolve(schema: unknown, where: { readonly root: unknown }): Record<string, unknown>;
  typeOf(schema: object): unknown;
  choicesOf(schema: object): unknown;
  limitsOf(schema: object): string;
  nameOf(schema: object, at: number): unknown;
  fits(schema: object, value: unknown): boolean;
}

const MAX_DEPTH = 6;

export const page: Edge = {
  name: 'page',
  runs: 200,
  async open() {
    const file = new URL('../../../assets/page/schema.js', import.meta.url);
    const read: PageSchema = await import(file.href);
    const look = (given: unknown, root: unknown, depth: number): void => {
      const schema = read.resolve(given, { root });
      read.typeOf(schema);
      read.choicesOf(schema);
      read.limitsOf(schema);
      read.nameOf(schema, depth);
      for (const value of [undefined, null, 'x', 1, [], {}]) read.fits(schema, value);
      if (depth > MAX_DEPTH) return;
      const { properties, items, anyOf, oneOf } = schema;
      for (const part of [properties, { items }, anyOf, oneOf]) {
        for (const each of Object.values(part ?? {}).slice(0, 20)) look(each, root, depth + 1);
      }
    };
    return {
      corpus: [
        Buffer.from(JSON.stringify(SCHEMA)),
        Buffer.from('{"$ref":"#/$defs/a","$defs":{"a":{"enum":[1]}}}'),
      ],
      check(input) {
        const schema = parsed(input);
        look(schema, schema, 0);
      },
    };
  },
};
