/** Loads native modules such that bundlers ignore them, since such a module cannot be bundled. */

import { createRequire } from 'node:module';

/**
 * Loads a native module; throws if it is not installed. It resolves from the folder of this file, so that a bundle uses
 * the `node_modules` next to it. The name is a parameter and the comments are required because Turbopack and webpack
 * follow `createRequire`, too.
 */
export function loadNative(name: 'fs-native-extensions' | '@napi-rs/keyring'): unknown {
  const require = createRequire(import.meta.url);
  return require(/* turbopackIgnore: true */ /* webpackIgnore: true */ name);
}
