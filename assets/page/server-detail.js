/** The detail of one server: state with reason and hint, actions, statistics and configuration. */

import { api, serverPath } from './api.js';
import { bars, share } from './charts.js';
import { confirmButton } from './confirm-button.js';
import { button, count, duration, h, plain, props, replace } from './dom.js';
import { notice, showError } from './notices.js';
import { jsonTree } from './result.js';
import { cut } from './said.js';
import { ServerLogin } from './server-login.js';
import { STATUS } from './states.js';
import { changed, loadStats, loadTools, reloadServers, store } from './store.js';

const NEEDS_LOGIN = new Set(['needs_auth', 'needs_client_registration']);
/** Scopes whose files this page can change. */
const EDITABLE = new Set(['local', 'project', 'user']);

export class ServerDetail {
  constructor(name, onRemoved) {
    this.name = name;
    this.onRemoved = onRemoved;
    this.head = h('div.detail-head');
    this.reason = h('div');
    this.held = h('div');
    this.approval = h('div');
    this.login = new ServerLogin(name);
    this.facts = h('dl.facts');
    this.charts = h('div.charts');
    this.chartsPart = h('section', h('h3', 'Speed and cost'), this.charts);
    this.config = h('div');
    this.element = h(
      'article.server-detail',
      this.head,
      this.reason,
      this.held,
      this.approval,
      this.login.element,
      this.chartsPart,
      h('section', h('h3', 'Connection'), this.facts),
      h('section', h('h3', 'Configuration'), this.config),
    );
    this.update();
  }

  get report() {
    return store.servers.find(({ name }) => name === this.name);
  }

  update() {
    const { report } = this;
    if (report === undefined) return;
    this.drawHead(report);
    this.drawReason(report);
    this.login.update(report);
    this.drawCharts();
    this.drawFacts(report);
    const key = `${report.status} ${report.tools} ${report.quarantined?.length}`;
    if (this.descriptionKey !== key) {
      this.descriptionKey = key;
      this.describe();
    }
  }

  drawHead(report) {
    const [tone, word] = STATUS[report.status] ?? ['calm', report.status];
    const key = JSON.stringify([report.status, this.origin?.credentials]);
    if (this.headKey === key) return;
    this.headKey = key;
    const actions = h('div.actions');
    const isUp = report.status === 'connected' || report.status === 'connecting';
    if (isUp) actions.append(this.action('Reconnect', 'POST', '/reconnect'));
    if (isUp) actions.append(this.action('Disconnect', 'POST', '/disconnect'));
    else if (!['blocked', 'untrusted', 'disabled'].includes(report.status)) {
      actions.append(
        this.action(
          report.status === 'failed' ? 'Try again' : 'Connect',
          'POST',
          '/connect',
          NEEDS_LOGIN.has(report.status) ? '' : 'primary',
        ),
      );
    }
    if (NEEDS_LOGIN.has(report.status))
      actions.append(button('Log in', () => this.login.begin(), { kind: 'primary' }));
    if (['keyring', 'file'].includes(this.origin?.credentials))
      actions.append(confirmButton('Log out', 'Confirm log out', () => this.act('DELETE', '/auth')));
    actions.append(
      confirmButton('Remove', 'Really remove', () => this.remove(), {
        kind: 'quiet',
        about: EDITABLE.has(report.scope) ? `from ${report.scope} scope` : '',
      }),
    );
    replace(
      this.head,
      h('div.detail-title', h('h2', this.name), h('span.pill', props({ data: { tone } }), word)),
      actions,
    );
  }

  drawReason({ error, status, waiting, quarantined = [] }) {
    // Redrawn only if it changed, so that an open `details` element stays open while calls come in.
    const isUnapproved = this.origin?.unapproved !== undefined;
    const key = JSON.stringify([error, status, waiting, quarantined, isUnapproved]);
    if (this.reasonKey === key) return;
    this.reasonKey = key;
    const tone = STATUS[status]?.[0] === 'bad' ? 'bad' : 'warn';
    const hint = isUnapproved
      ? 'Read its entry below, and approve it if it is yours.'
      : hintOf(status, error);
    replace(
      this.reason,
      error === undefined
        ? ''
        : h(
            `div.callout.${tone}`,
            h('p', error.message),
            hint === undefined ? '' : h('p.hint', hint),
            error.stderr === undefined
              ? ''
              : h('details', h('summary', 'Its stderr'), h('pre.text', error.stderr)),
          ),
      waiting === undefined
        ? ''
        : h('div.callout.warn', h('p', waiting.error.message), h('p.hint', waiting.error.hint)),
      ...quarantined.map(({ tool, reason }) =>
        h('div.callout.warn', h('p', `The tool ${tool} is left out: ${reason}`)),
      ),
    );
  }

  drawCharts() {
    const stats = store.stats.get(this.name);
    this.chartsPart.hidden = !stats?.calls && !stats?.definitionTokens;
    const all = store.definitionTokens.all;
    const tokens = stats?.definitionTokens ?? 0;
    const speed =
      stats?.p50 === undefined ? 'No calls yet.' : `p50 ${duration(stats.p50)} · p95 ${duration(stats.p95)}`;
    const failures = stats?.failed ? ` · ${count(stats.failed)} of ${count(stats.calls)} failed` : '';
    replace(
      this.charts,
      h(
        'figure',
        h('figcaption', h('span', 'Latency of the last calls'), h('span', speed + failures)),
        bars(stats?.recent ?? [], { width: 480, height: 56, label: speed }),
      ),
      h(
        'figure',
        h(
          'figcaption',
          h('span', 'Cost of its definitions'),
          h(
            'span',
            all === 0 ? '–' : `${count(tokens)} tokens · ${Math.round((tokens / all) * 100)} % of all`,
          ),
        ),
        share(tokens, all, { width: 480, label: `${tokens} of ${all} tokens` }),
      ),
    );
  }

  drawFacts({ transport, scope, protocolVersion, era, connectMs, pid, tools }) {
    const rows = [
      ['Transport', transport],
      ['Scope', scope],
      ['Protocol', protocolVersion === undefined ? undefined : `${protocolVersion} (${era})`],
      ['Connected in', connectMs === undefined ? undefined : duration(connectMs)],
      ['Process', pid],
      ['Tools', tools],
      ['Credentials', this.origin?.credentials],
    ];
    replace(
      this.facts,
      ...rows.flatMap(([name, value]) =>
        value === undefined ? [] : [h('div', h('dt', name), h('dd', String(value)))],
      ),
    );
  }

  async describe() {
    try {
      this.origin = await api('GET', serverPath(this.name));
    } catch {
      return;
    }
    await this.drawHeld();
    const { file, entry, terms, unapproved } = this.origin;
    this.drawApproval(unapproved);
    replace(
      this.config,
      file === undefined
        ? h('p.hint', 'For this run only; not stored in a file.')
        : h('p.hint', h('code', file)),
      jsonTree(entry, { open: true, deep: true }),
      terms === undefined ? '' : h('p.hint', terms),
    );
    const { report } = this;
    if (report === undefined) return;
    this.drawHead(report);
    this.drawReason(report);
    this.drawFacts(report);
  }

  /** Draws the definitions on hold; accepting sends the digest of exactly those that are shown. */
  async drawHeld() {
    const { held, digest } = await api('GET', serverPath(this.name, '/pins')).catch(() => ({ held: [] }));
    const accept = async () => {
      try {
        await api('POST', serverPath(this.name, '/pins'), { digest });
        await reloadServers();
      } catch (error) {
        showError(error);
      }
      await this.drawHeld();
    };
    replace(
      this.held,
      held.length === 0
        ? ''
        : h(
            'section.held',
            h('h3', 'New or changed since it was first seen'),
            h('p.hint', 'On hold: models do not see it, and it cannot be called until you accept it.'),
            ...held.map(heldPart),
            h('div.actions', button('Accept as shown', accept, { kind: 'primary' })),
          ),
    );
  }

  /** Draws an entry that was added over the API; approving sends the digest of the entry that is shown. */
  drawApproval(unapproved) {
    if (unapproved === undefined) return replace(this.approval);
    const { shown, digest } = unapproved;
    replace(
      this.approval,
      h(
        'section.callout.warn.approval',
        h('p', 'Approve this server only if you know who added it. This is its whole entry:'),
        h('pre.text', shown),
        h('div.actions', this.action('Approve and start', 'POST', '/approve', 'primary', { digest })),
      ),
    );
  }

  action(label, method, path, kind = '', body = undefined) {
    return button(label, () => this.act(method, path, body), { kind });
  }

  async act(method, path, body) {
    try {
      await api(method, serverPath(this.name, path), body);
      await Promise.all([reloadServers(), loadStats(), loadTools()]);
      this.descriptionKey = undefined;
      changed('servers');
    } catch (error) {
      showError(error);
      // The shown data may be outdated.
      void this.describe();
    }
  }

  async remove() {
    try {
      const { scope } = this.report ?? {};
      // Several scopes can have an entry with this name: removes the shown one.
      const which = EDITABLE.has(scope) ? `?scope=${scope}` : '';
      const { file } = await api('DELETE', serverPath(this.name, which));
      notice(
        file === undefined
          ? `${this.name} is removed from this run.`
          : `${this.name} is removed from ${file}.`,
      );
      this.onRemoved();
      await reloadServers();
      const remaining = this.report;
      if (remaining !== undefined) notice(`${this.name} in ${remaining.scope} scope is used now.`);
    } catch (error) {
      showError(error);
    }
  }
}

/** Returns the error's hint; for a login, one for this page, because the error's is written for a terminal. */
function hintOf(status, error) {
  return status === 'needs_auth' ? 'Click Log in, then log in with your browser.' : error?.hint;
}

function heldPart({ tool, kind, diff }) {
  const lines = plain(diff).split('\n');
  return h(
    'figure.said',
    h(
      'figcaption',
      kind === undefined || tool.startsWith('(') ? '' : `${kind} `,
      h('code', cut(plain(tool), 200)),
    ),
    h(
      'div.diff',
      ...lines.map((line) =>
        h(line.startsWith('+ ') ? 'div.come' : line.startsWith('- ') ? 'div.gone' : 'div', line),
      ),
    ),
  );
}
