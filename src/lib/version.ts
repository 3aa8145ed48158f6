/** The package's version as a constant, because a bundled agent cannot read package.json. */

/** Equal to `version` in package.json (test/lib/version.test.ts). */
const VERSION = '0.2.0';

export function readVersion(): string {
  return VERSION;
}
