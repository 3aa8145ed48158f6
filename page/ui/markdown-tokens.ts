/** Splits Markdown into tokens. A file of its own, which is loaded after the page is shown: it is a third of the code. */

import { lexer, type Token } from 'marked';

export function tokensOf(text: string): readonly Token[] {
  return lexer(text);
}
