/** The routes for operators: `/livez`, `/readyz` and `/metrics`. They need no token; names of servers need one. */

import type { OpenRoute, OpenRoutes } from '../endpoint/http-access.ts';
import { parsePrincipal } from './callers.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';

const TEXT = 'text/plain; charset=utf-8';
const METRICS = 'text/plain; version=0.0.4; charset=utf-8';

/** One condition of readiness: true, or the reason why it is not met. */
export interface ReadyCheck {
  readonly name: string;
  /** Undefined: met. A note is shown, and does not make the gateway unready. */
  state(): { readonly reason: string; readonly isNote?: boolean } | undefined;
}

export interface ProbeOptions {
  readonly metrics: GatewayMetrics;
  readonly isClosing: () => boolean;
  readonly checks: readonly ReadyCheck[];
}

export class GatewayProbes implements OpenRoutes {
  readonly #options: ProbeOptions;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  route(path: string): OpenRoute | undefined {
    switch (path) {
      case '/livez':
        return { identifies: false, answer: () => ({ status: 200, type: TEXT, text: 'ok\n' }) };
      case '/readyz':
        return { identifies: false, answer: () => this.#ready() };
      case '/metrics':
        return {
          identifies: true,
          answer: (principal) => ({
            status: 200,
            type: METRICS,
            text: this.#options.metrics.text(seesServers(principal)),
          }),
        };
      default:
        return undefined;
    }
  }

  #ready(): { readonly status: number; readonly type: string; readonly text: string } {
    const { isClosing, checks } = this.#options;
    const closing = isClosing() ? [{ name: 'gateway', reason: 'closing', isNote: false }] : [];
    const found = checks.flatMap((check) => {
      const state = check.state();
      return state === undefined ? [] : [{ name: check.name, ...state }];
    });
    const all = [...closing, ...found];
    const isReady = all.every(({ isNote }) => isNote === true);
    const lines = all.map(({ name, reason }) => `${name}: ${reason}\n`);
    return {
      status: isReady ? 200 : 503,
      type: TEXT,
      text: `${isReady ? 'ok' : 'not ready'}\n${lines.join('')}`,
    };
  }
}

/** A client with a profile must not learn which other servers there are. */
function seesServers(principal: string | undefined): boolean {
  return principal !== undefined && parsePrincipal(principal).profile === undefined;
}
