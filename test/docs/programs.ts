/** Programs of the pages: put where packages are installed, run, and type-checked all at once against what is shipped. */

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { ROOT, type Snippet } from './snippets.ts';

/** As strict as we are ourselves, but for what only declarations need. */
const COMPILER_OPTIONS = {
  allowJs: true,
  checkJs: true,
  strict: true,
  noImplicitAny: false,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
};

/** A folder in which programs find our package, as built, and those that it was built with. */
export function installInto(dir: string): void {
  const installed = join(ROOT, 'node_modules');
  const target = join(dir, 'node_modules');
  mkdirSync(target);
  const names = readdirSync(installed).filter((name) => !name.startsWith('.'));
  for (const name of names) symlinkSync(join(installed, name), join(target, name));
  symlinkSync(ROOT, join(target, 'plugboard'), 'dir');
  // Scripts of a project (`npm test`) find their programs here; one by one, so that none of our files can be deleted through it.
  mkdirSync(join(target, '.bin'));
  for (const name of readdirSync(join(installed, '.bin'))) {
    symlinkSync(join(installed, '.bin', name), join(target, '.bin', name));
  }
}

export function isProgram({ language, printedBy }: Snippet): boolean {
  return (language === 'js' || language === 'ts') && printedBy === undefined;
}

/** The file that Node can run: without types, which Node 20 does not understand. */
export async function runnable(snippet: Snippet): Promise<string> {
  if (snippet.language === 'js') return snippet.text;
  const { code } = await transform(snippet.text, { loader: 'ts', format: 'esm' });
  return code;
}

/** Errors of the compiler about programs and shapes, with the page and line of each. */
export async function typeCheck(
  dir: string,
  sources: readonly { readonly snippet: Snippet; readonly text: string }[],
): Promise<string[]> {
  const folder = join(dir, 'types');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  for (const { snippet, text } of sources) {
    const name = `${snippet.page.replaceAll(/\W/g, '-')}-${snippet.line}.${snippet.language}`;
    writeFileSync(join(folder, name), `${text}\nexport {};\n`);
  }
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch(
    (failed: { stdout: string }) => failed,
  );
  return stdout.split('\n').filter((line) => line !== '');
}

/** A shape that a page shows, and what really was printed as a value of it: fields that are not shown are found, too. */
export function shapeCheck(snippet: Snippet, printed: string): string {
  const [, name] = /^(?:interface|type) (\w+)/m.exec(snippet.text) ?? [];
  if (name === undefined) throw new Error(`${snippet.page}:${snippet.line} declares no type.`);
  return `${snippet.text}\nexport const printed: ${name} = ${printed};`;
}
