/**
 * Records real commands on a real terminal and draws what stood there: docs/terminal.svg, for the README.
 *
 *   node scripts/record-terminal.mjs [file]
 *
 * The commands run in a home of their own against our own server for files. `script` gives the terminal; a small
 * screen understands what our commands write: text, colours, and going back to draw again.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Screen } from './terminal-screen.mjs';

const COLUMNS = 92;
const ROWS = 60;
const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const PADDING = 18;
const TITLE_HEIGHT = 34;

const root = fileURLToPath(new URL('..', import.meta.url));
const file = process.argv[2] ?? join(root, 'docs', 'terminal.svg');

/** What is typed: our own server for a project's files is at hand everywhere. */
const SESSION = [
  "plugboard add code -s user -- plugboard workspace '${PROJECT_DIR}'",
  'plugboard list',
  'plugboard search find text in files -n 2',
  "plugboard call code glob pattern='docs/c*.md'",
  'plugboard call code gerp pattern=x',
  'plugboard',
];

const work = mkdtempSync(join(tmpdir(), 'plugboard-record-'));
try {
  const bin = join(work, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'plugboard'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/bin/plugboard.cjs')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const lines = [];
  for (const typed of SESSION) {
    const screen = new Screen();
    screen.write(await record(typed, bin));
    lines.push(
      [
        { text: '$ ', style: 'prompt' },
        { text: typed, style: 'strong' },
      ],
      ...screen.lines(),
      [],
    );
  }
  lines.pop();
  writeFileSync(file, draw(lines));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Runs one line on a terminal of its own and gives back every byte that reached it. */
function record(typed, bin) {
  const { NO_COLOR: _, CI: __, NODE_EXTRA_CA_CERTS: ___, ...inherited } = process.env;
  const child = spawn('script', ['-qec', `stty cols ${COLUMNS} rows ${ROWS}; ${typed}`, '/dev/null'], {
    cwd: root,
    env: {
      ...inherited,
      TERM: 'xterm-256color',
      PATH: `${bin}:${process.env.PATH}`,
      HOME: work,
      XDG_CONFIG_HOME: '',
      PLUGBOARD_HOME: '',
      PLUGBOARD_CREDENTIALS: 'file',
      PLUGBOARD_DAEMON: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    seen += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Whose home it was is nobody's business.
    child.once('close', () => resolve(seen.replaceAll(work, '/home/you')));
  });
}

/** Colours for light and dark pages; the frame is dark on both, as terminals are. */
function draw(lines) {
  const width = Math.ceil(COLUMNS * CELL_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + PADDING;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${PADDING + at * 20}" cy="17" r="6" fill="${colour}"/>`,
  );
  const texts = lines.map((pieces, at) => {
    const y = TITLE_HEIGHT + at * LINE_HEIGHT + 14;
    const spans = pieces.map(({ text, style }) =>
      style === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`,
    );
    return `<text x="${PADDING}" y="${y}">${spans.join('')}</text>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>A session with plugboard in a terminal</title>',
    '<style>',
    'text { font: 14px/1 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6deeb; white-space: pre }',
    '.prompt { fill: #7fdbca } .strong { font-weight: bold; fill: #ffffff } .faint { fill: #8393a7 }',
    '.good { fill: #22da6e } .bad { fill: #ff6363 } .warn { fill: #ffcb6b }',
    '</style>',
    `<rect width="${width}" height="${height}" rx="10" fill="#0b1526"/>`,
    ...dots,
    ...texts,
    '</svg>',
  ].join('\n')}\n`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
