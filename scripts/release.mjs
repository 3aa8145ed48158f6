/**
 * `npm run release`: everything of a release but the publishing. Checks that the tree is clean and that version and
 * changelog match, runs `npm test` (build, types, lint, words, tests with publint and attw), packs, and prints the
 * command to type. `--dry-run` checks the version and packs, without the tests, in any tree and with
 * unreleased changes.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const isDryRun = process.argv.includes('--dry-run');
const outputFolder = join(root, '.cache', 'release');

process.exitCode = await release().catch((error) => {
  process.stderr.write(`error: ${error.message}\n`);
  return 1;
});

async function release() {
  const manifest = JSON.parse(read('package.json'));
  if (!isDryRun) checkTree();
  checkVersion(manifest.version);
  if (!isDryRun && (await run('npm', ['test'], { cwd: root })) !== 0) throw new Error('npm test has failed');
  const tarball = pack();
  process.stdout.write(`\n${tarball}\n`);
  const missing = ['repository', 'homepage', 'bugs'].filter((key) => manifest[key] === undefined);
  if (missing.length > 0)
    process.stdout.write(
      `package.json has no ${missing.join(', ')}; provenance needs repository, and a publish from CI (CONTRIBUTING.md).\n`,
    );
  process.stdout.write(`Publish it with:\n  git tag v${manifest.version} && npm publish ${tarball}\n`);
  return 0;
}

function read(file) {
  return readFileSync(join(root, file), 'utf8');
}

function checkTree() {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changed !== '') throw new Error(`The working tree has changes:\n${changed}`);
}

/** The manifest, the code, the lock file and the changelog have one version, and nothing is left under Unreleased. */
function checkVersion(version) {
  const changelog = read('CHANGELOG.md');
  if (!new RegExp(`^## ${version.replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d$`, 'm').test(changelog))
    throw new Error(`CHANGELOG.md has no section "## ${version} - <date>"`);
  const unreleased = /^## Unreleased\n([\s\S]*?)^## /m.exec(changelog)?.[1] ?? '';
  if (!isDryRun && unreleased.trim() !== '') throw new Error('CHANGELOG.md has entries under Unreleased');
  if (!read('src/lib/version.ts').includes(`'${version}'`))
    throw new Error(`src/lib/version.ts does not have ${version}`);
  if (JSON.parse(read('package-lock.json')).version !== version)
    throw new Error(`package-lock.json does not have ${version}: run npm install`);
}

function pack() {
  mkdirSync(outputFolder, { recursive: true });
  const flags = ['pack', '--json', '--ignore-scripts', '--pack-destination', outputFolder];
  const printed = execFileSync('npm', flags, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename, files, unpackedSize }] = JSON.parse(printed);
  process.stdout.write(`${files.length} files, ${Math.round(unpackedSize / 1024)} KiB unpacked\n`);
  return join(outputFolder, filename);
}
