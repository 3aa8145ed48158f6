/** As much of a terminal's screen as our commands use: text, colours, and going up to draw again. */

const STYLES = { 1: 'strong', 2: 'faint', 31: 'bad', 32: 'good', 33: 'warn' };
const ENDS = { 22: ['strong', 'faint'], 39: ['bad', 'good', 'warn'] };
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what a terminal understands.
const SEQUENCE = /\x1b\[(\??[0-9;]*)([A-Za-z])/y;

export class Screen {
  #rows = [[]];
  #row = 0;
  #column = 0;
  #styles = new Set();

  write(text) {
    for (let at = 0; at < text.length; ) {
      SEQUENCE.lastIndex = at;
      const found = SEQUENCE.exec(text);
      if (found !== null) {
        this.#control(found[1], found[2]);
        at += found[0].length;
        continue;
      }
      const char = String.fromCodePoint(text.codePointAt(at));
      at += char.length;
      if (char === '\r') this.#column = 0;
      else if (char === '\n') this.#go(this.#row + 1);
      else if (char >= ' ') this.#put(char);
    }
  }

  /** What stands there, row after row, as pieces of one style each; empty rows at the end are gone. */
  lines() {
    const lines = this.#rows.map((cells) => {
      const pieces = [];
      for (const { char, style } of Array.from(cells, (cell) => cell ?? { char: ' ', style: '' })) {
        if (pieces.at(-1)?.style === style) pieces.at(-1).text += char;
        else pieces.push({ text: char, style });
      }
      return pieces;
    });
    while (lines.length > 0 && lines.at(-1).every(({ text }) => text.trim() === '')) lines.pop();
    return lines;
  }

  #put(char) {
    this.#rows[this.#row][this.#column] = { char, style: [...this.#styles].sort().join(' ') };
    this.#column += 1;
  }

  #go(row) {
    this.#row = Math.max(0, row);
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }

  #control(parameters, letter) {
    const [first = 0] = parameters.split(';').map(Number);
    if (letter === 'm') this.#style(first);
    else if (letter === 'A') this.#go(this.#row - (first || 1));
    else if (letter === 'J') {
      this.#rows.length = this.#row + 1;
      this.#rows[this.#row].length = this.#column;
    } else if (letter === 'K') this.#rows[this.#row].length = first === 2 ? 0 : this.#column;
  }

  #style(code) {
    if (code === 0) this.#styles.clear();
    else if (STYLES[code] !== undefined) this.#styles.add(STYLES[code]);
    for (const style of ENDS[code] ?? []) this.#styles.delete(style);
  }
}
