/** Applies a host's permission rules to actions other than calls, and saves "always" answers. */

import {
  approveOwn,
  decisionOn,
  type Judged,
  keepAllowed,
  type OwnAction,
  pathPlace,
} from '../call/approve.ts';
import { approveContent, type ContentAction, contentDenial } from '../call/approve-content.ts';
import { accountsOf, rateLimited, reserveShared } from '../call/budget.ts';
import type { Approvals } from '../call/call.ts';
import type { Session } from '../call/session.ts';
import { contentRuleNames } from '../catalog/resource-tool-definitions.ts';
import type { Identity } from '../config/rules.ts';
import { entryOwner } from '../config/scopes.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { sessionRule } from '../policy/approval.ts';
import { isRefusal } from '../policy/budgets.ts';
import type { HostCore } from './host-core.ts';

export class HostApprovals implements Approvals {
  readonly always: Set<string> = new Set();
  readonly #core: HostCore;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Saves an "always" rule; if that fails, it still applies to this call and session. */
  async allowAlways(spec: Identity, rule: string): Promise<void> {
    const core = this.#core;
    const forSession = (why: string): void =>
      core.log(spec.name, 'warning', `${rule} is allowed for this session only: ${why}`);
    const { home, configuration } = core.options;
    // Sessions of such a host often belong to different people, so the rule must not apply to all of them.
    if (home === false || configuration === false)
      return forSession('this host reads no configuration files');
    const { allowAlways } = await import('../config/edit-config.ts');
    try {
      await allowAlways(core.home, spec, rule);
      // Applies to every session at once, before the file is reread.
      this.always.add(sessionRule({ rule }, entryOwner(spec)));
    } catch (error) {
      forSession(asPlugboardError(error).message);
    }
  }

  /** Allows the calls of a tool, like an answer of `approve`. */
  allow(session: Session, judged: Judged, granted: 'allow-session' | 'allow-always'): Promise<void> {
    const { spec, names } = judged;
    const decision = decisionOn({ ...judged, sessionAllows: new Set() });
    if (decision.kind === 'deny')
      throw new PlugboardError('DENIED', `${names.rule} cannot be allowed: ${decision.reason}`, {
        server: spec.name,
      });
    const askRule = decision.kind === 'ask' ? decision.rule : undefined;
    if (granted === 'allow-always' && askRule !== undefined) {
      const message = `${names.rule} is allowed for this session only: the rule ${askRule} in "ask" is stronger`;
      this.#core.log(spec.name, 'warning', message, session.id);
    }
    return keepAllowed(this, session, { spec, rule: names.rule, askRule }, granted);
  }

  /** Resolves if the rules allow a session a resource, prompt or completion. */
  async approveContent(session: Session, action: ContentAction): Promise<void> {
    const { pool, calls, config } = this.#core;
    const spec = pool.get(action.server)?.spec;
    const owner = spec === undefined ? '' : entryOwner(spec);
    const place =
      spec === undefined ? { projectDir: config.projectRoot, folders: [] } : pathPlace(spec, this.#core);
    await approveContent(calls, session, action, { owner, place });
    // Suggestions while a person types are not counted.
    if (action.mayAsk) await this.#count(session, action);
  }

  /** Counts a read, a prompt or a request as a call of its method. */
  async #count(session: Session, { server, kind, name }: ContentAction): Promise<void> {
    const { budgets, calls } = this.#core;
    const accounts = accountsOf(calls, session);
    if (accounts === undefined) return;
    const tool = kind === 'extension' ? name : kind === 'resource' ? 'resources/read' : 'prompts/get';
    const names = contentRuleNames(server, `__${tool.replaceAll('/', '.')}`);
    const { shared } = budgets;
    const subject = `${tool} of ${server}`;
    if (shared !== undefined) {
      await reserveShared(calls, shared, accounts, { server, tool, names }, subject);
      return;
    }
    const reserved = budgets.reserve(accounts, { server, tool, names });
    if (isRefusal(reserved)) throw rateLimited(reserved, subject, server);
  }

  /** Resolves if the rules allow a session one of the gateway's own tools. */
  approveOwn(session: Session, action: OwnAction): Promise<void> {
    const { calls, config } = this.#core;
    return approveOwn(calls, session, action, config.projectRoot);
  }

  /** Returns the error if a rule denies all content of a server. */
  contentDenial(server: string): PlugboardError | undefined {
    return contentDenial(this.#core.config.settings.permissions ?? {}, server);
  }
}
