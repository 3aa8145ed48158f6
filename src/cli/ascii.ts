/** Replaces the symbols that Plugboard draws with ASCII, for terminals and locales without UTF-8. */

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

/** False on the Linux console and if the locale names an encoding other than UTF-8; an unset locale is treated as UTF-8. */
export function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return env['TERM'] !== 'linux' && (locale === '' || /utf-?8/i.test(locale));
}

/** Replaces symbols with ASCII. Lines that filled the columns still fit: an ellipsis overwrites the text before it. */
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
