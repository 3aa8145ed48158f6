/** The form that the page makes of a tool's schema: any schema is one, if only of JSON by hand. */

import { fieldsOf } from '../../../page/form/field-model.ts';
import { initialInput, inputOf, readInput } from '../../../page/form/field-value.ts';
import type { Edge } from '../edge.ts';
import { parsed, SCHEMA } from './lists.ts';

const VALUES = [undefined, null, 'x', 1, [], {}, { a: [{}] }];

export const page: Edge = {
  name: 'page',
  runs: 200,
  async open() {
    const place = { path: [], labels: [], report: () => {} };
    return {
      corpus: [
        Buffer.from(JSON.stringify(SCHEMA)),
        Buffer.from('{"$ref":"#/$defs/a","$defs":{"a":{"enum":[1]}}}'),
      ],
      check(input) {
        const field = fieldsOf(parsed(input));
        readInput(field, initialInput(field), place);
        for (const value of VALUES) readInput(field, inputOf(field, value), place);
      },
    };
  },
};
