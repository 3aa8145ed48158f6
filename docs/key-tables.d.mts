/** Types of key-tables.mjs for its test. */

export interface KeyTablesSource {
  readonly keys: Readonly<
    Record<
      string,
      ReadonlyMap<
        string,
        {
          readonly kind: { readonly expected: string; readonly schema: Readonly<Record<string, unknown>> };
          readonly description: string;
        }
      >
    >
  >;
  readonly limits: object;
}

export function keyTables(source: KeyTablesSource): Record<string, string>;
export function withTables(text: string, tables: Readonly<Record<string, string>>): string;

/** A table as the formatter wants it: cells of one column have one width. */
export function layOut(table: readonly (readonly string[])[]): string;
