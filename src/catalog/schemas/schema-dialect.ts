/** The JSON Schema dialects that we can validate with. */

export type Dialect = '2020-12' | '2019-09' | 'draft-07';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  // Later drafts only added keywords.
  ['json-schema.org/draft-06/schema', 'draft-07'],
  ['json-schema.org/draft-04/schema', 'draft-07'],
  // Without a version it means the newest draft at the time.
  ['json-schema.org/schema', '2020-12'],
]);

/** Returns the dialect of `$schema`, 2020-12 if it is missing; undefined if it is unknown. */
export function dialectOf($schema: unknown): Dialect | undefined {
  if (typeof $schema !== 'string') return '2020-12';
  return DIALECTS.get($schema.replace(/^https?:\/\//, '').replace(/#$/, ''));
}
