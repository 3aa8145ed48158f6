/** The entry point `plugboard/remote-only` as it is built, with the types of its source. */

export function remoteOnly(): Promise<typeof import('../../src/remote-only/index.ts')> {
  return import(new URL('../../dist/remote-only/index.js', import.meta.url).href);
}
