/** The package's own version, as a constant: a bundled agent cannot read our manifest. */

/** Equal to `version` in package.json (test/lib/version.test.ts). */
const VERSION = '0.1.0';

export function readVersion(): string {
  return VERSION;
}
