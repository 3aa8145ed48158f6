/**
 * How much the scan of descriptions finds, and how often it is wrong: `node bench/policy-scan.mjs [catalogs…]`.
 * Benign definitions: the tools of our own fixtures and demonstration, and every catalog (`*.jsonl`) of the folders
 * that are given; without one, `../shared/toolsearch/catalogs` where it is there. Needs a build.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scanListing, scanText } from '../dist/policy/scan.js';
import { tools as echoTools } from '../test/fixtures/echo-tools.mjs';
import { after } from './scan/poisoned-after.mjs';
import { before } from './scan/poisoned-before.mjs';
import { fresh } from './scan/poisoned-fresh.mjs';

const percent = (part, whole) => `${part}/${whole} (${((100 * part) / whole).toFixed(1)} %)`;

function recall(name, corpus) {
  const classes = [...new Set(corpus.map(([kind]) => kind))].sort();
  for (const kind of classes) {
    const texts = corpus.filter(([of]) => of === kind);
    const found = texts.filter(([, text]) => scanText(text).length > 0);
    process.stdout.write(
      `${name.padEnd(14)} ${kind.padEnd(10)} found ${percent(found.length, texts.length)}\n`,
    );
  }
  const found = corpus.filter(([, text]) => scanText(text).length > 0);
  process.stdout.write(
    `${name.padEnd(14)} ${'all'.padEnd(10)} found ${percent(found.length, corpus.length)}\n\n`,
  );
}

function falseAlarms(name, tools) {
  const findings = tools.map((tool) => scanListing([tool])).filter((list) => list.length > 0);
  const kinds = new Map();
  for (const { kind } of findings.flat()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const detail = [...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ');
  process.stdout.write(`${name.padEnd(25)} flagged ${percent(findings.length, tools.length)} ${detail}\n`);
  if (process.env.SHOW)
    for (const [first] of findings.slice(0, 15)) process.stdout.write(`   ${first.kind}: ${first.quote}\n`);
  return [findings.length, tools.length];
}

recall('before rules', before);
recall('after rules', after);
recall('held out', fresh);

const shared = fileURLToPath(new URL('../../shared/toolsearch/catalogs', import.meta.url));
const folders =
  process.argv.length > 2 ? process.argv.slice(2) : [shared].filter((folder) => existsSync(folder));
const counts = [
  falseAlarms(
    'own fixtures',
    echoTools.map((tool) => ({ ...tool, tool: tool.name })),
  ),
];
for (const folder of folders) {
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.jsonl'))) {
    const tools = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line))
      .map(({ name, description, inputSchema }) => ({
        tool: name,
        description: description ?? '',
        inputSchema: inputSchema ?? {},
      }));
    counts.push(falseAlarms(file, tools));
  }
}
const [flagged, all] = counts.reduce(([a, b], [c, d]) => [a + c, b + d]);
process.stdout.write(`${'all benign'.padEnd(25)} flagged ${percent(flagged, all)}\n`);
