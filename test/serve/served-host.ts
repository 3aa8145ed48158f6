/** Small hosts served over HTTP for the tests of one file, each closed when its test is over. */

import { afterEach } from 'vitest';
import { type ServedHttp, type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import type { ScriptedServerOptions } from '../../src/testing/index.ts';
import { type SmallHost, smallHost } from './small-host.ts';

export interface Served extends SmallHost {
  readonly served: ServedHttp;
  readonly url: string;
}

export interface ServedHosts {
  serve(script?: ScriptedServerOptions, options?: ServeHttpOptions): Promise<Served>;
  /** What else is closed when the test is over, the newest first. */
  readonly opened: (() => unknown)[];
}

export function servedHosts(): ServedHosts {
  const opened: ServedHosts['opened'] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  return {
    opened,
    async serve(script = {}, options = {}) {
      const small = await smallHost(script);
      opened.push(small.close);
      const served = await serveHttp(small.host, { port: 0, ...options });
      opened.push(served.close);
      return { ...small, served, url: served.url };
    },
  };
}
