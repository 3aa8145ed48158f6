/** Parses the TOML files of other agents into a document, with the position of an error. */

import { parse, TomlError } from 'smol-toml';
import type { Document } from '../document.ts';

export function parseToml(file: string, source: string): Document {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  try {
    return { file, text, value: parse(text), problems: [] };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The other lines quote the text around the error, which may be a secret.
    const [first = ''] = error.message.split('\n');
    const what = first.replace(/^Invalid TOML document: /, '').replace(/\.$/, '');
    const problem = {
      file,
      line: error.line,
      column: error.column,
      message: `The file is not valid TOML: ${what}`,
      hint: 'This file is ignored until it is fixed.',
    };
    return { file, text: '', value: undefined, problems: [problem] };
  }
}
