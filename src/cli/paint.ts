/** Terminal colours by meaning: good, bad, warning, and less important text. */

export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  faint(text: string): string;
  strong(text: string): string;
}

const same = (text: string): string => text;

const plain: Paint = { good: same, bad: same, warn: same, faint: same, strong: same };

const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;

const coloured: Paint = {
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  faint: sgr(2, 22),
  strong: sgr(1, 22),
};

export function createPaint(colour: boolean): Paint {
  return colour ? coloured : plain;
}
