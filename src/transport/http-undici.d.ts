/** Types for the one inner module of undici that is loaded: its whole package takes 100 ms more to start. */

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is how the module exports it.
  export default Pool;
}
