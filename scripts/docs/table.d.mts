/** Rows of cells, the first of them the head, as a Markdown table that the formatter leaves alone. */
export function table(rows: readonly (readonly string[])[]): string;
