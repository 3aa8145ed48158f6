/** Marks for terminals and locales without UTF-8: each character that Plugboard draws, in ASCII. */

const ASCII: Readonly<Record<string, string>> = {
  '✔': '+',
  '✖': 'x',
  '·': '-',
  '•': '*',
  '→': '->',
  '│': '|',
  '━': '=',
  '╌': '-',
  '─': '-',
  '…': '...',
  '×': 'x',
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '⠋': '|',
  '⠙': '/',
  '⠹': '-',
  '⠸': '\\',
  '⠼': '|',
  '⠴': '/',
  '⠦': '-',
  '⠧': '\\',
  '⠇': '|',
  '⠏': '/',
};

const DRAWN = new RegExp(`[${Object.keys(ASCII).join('')}]`, 'g');
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not counted
const COLOURS = /\u001b\[[\d;?]*[A-Za-z]/g;

/** False where the locale names another encoding; a locale that is not set says nothing. */
export function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** Lines that filled their columns stay within them: an ellipsis then replaces what is before it. */
export function inAscii(text: string, columns: number | undefined): string {
  return text
    .split('\n')
    .map((line) => {
      const drawn = line.replace(DRAWN, (char) => ASCII[char] ?? char);
      const isTooWide = columns !== undefined && [...drawn.replace(COLOURS, '')].length > columns;
      return isTooWide ? line.replace(/..…/gu, '...').replace(DRAWN, (char) => ASCII[char] ?? char) : drawn;
    })
    .join('\n');
}
