/** The dialects of JSON Schema that values can be checked by. */

export type Dialect = '2020-12' | '2019-09' | 'draft-07';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  // Later drafts only added to these.
  ['json-schema.org/draft-06/schema', 'draft-07'],
  ['json-schema.org/draft-04/schema', 'draft-07'],
  // Means the newest draft of its time.
  ['json-schema.org/schema', '2020-12'],
]);

/** The dialect that `$schema` names, 2020-12 where there is none; undefined if it is not known. */
export function dialectOf($schema: unknown): Dialect | undefined {
  if (typeof $schema !== 'string') return '2020-12';
  return DIALECTS.get($schema.replace(/^https?:\/\//, '').replace(/#$/, ''));
}
