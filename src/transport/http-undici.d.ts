/** Types for the only internal module of undici that is loaded: loading the whole package takes 100 ms more. */

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is how the module exports it.
  export default Pool;
}
