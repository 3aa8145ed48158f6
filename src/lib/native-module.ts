/** Loads native modules in a way that bundlers leave alone: they cannot put such a module into a bundle. */

import { createRequire } from 'node:module';

/**
 * Throws where the module is not installed. From the folder of this file, so that a bundle uses the `node_modules` next
 * to it. The name is a parameter and the comments are there because Turbopack and webpack follow `createRequire`, too.
 */
export function loadNative(name: 'fs-native-extensions' | '@napi-rs/keyring'): unknown {
  const require = createRequire(import.meta.url);
  return require(/* turbopackIgnore: true */ /* webpackIgnore: true */ name);
}
