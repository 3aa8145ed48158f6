/** The detail of one client: how it is recognised, its sessions, budgets and last calls. */

import { api } from './api.js';
import { share } from './charts.js';
import { confirmButton } from './confirm-button.js';
import { count, duration, h, props, replace } from './dom.js';
import { notice, showError } from './notices.js';
import { OUTCOMES } from './states.js';
import { loadClients, store } from './store.js';

const MAX_CALLS_SHOWN = 10;
const MAX_SESSIONS_SHOWN = 50;
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export class ClientDetail {
  /** `find` returns the current state of a client by name; '' is for all clients without a name. */
  constructor(name, find) {
    this.name = name;
    this.find = find;
    this.head = h('div.detail-head');
    this.reason = h('div');
    this.facts = h('dl.facts');
    this.sessions = h('div.client-lines');
    this.budgets = h('div.charts');
    this.calls = h('div.client-lines');
    this.element = h(
      'article.client-detail',
      this.head,
      this.reason,
      this.facts,
      h('section', h('h3', 'Connected'), this.sessions),
      h('section', h('h3', 'Budgets'), this.budgets),
      h('section', h('h3', 'Last calls'), this.calls),
    );
  }

  update() {
    const client = this.find(this.name);
    if (client === undefined) return;
    this.drawHead(client);
    const { profile, recognisedBy, token, problem } = client;
    replace(
      this.reason,
      problem === undefined
        ? ''
        : h(
            'div.callout.bad',
            h('p', problem),
            h('p.hint', 'Fix config.json: the client is refused until then.'),
          ),
    );
    const facts = [
      ['Profile', profile ?? 'none: all servers and tools'],
      ['Recognised by', recognisedBy.length === 0 ? undefined : recognisedBy.join(', ')],
      ['Token created', token === undefined ? undefined : day.format(token.created)],
      ['Token expires', token?.expires === undefined ? undefined : day.format(token.expires)],
    ];
    replace(
      this.facts,
      ...facts.flatMap(([label, value]) =>
        value === undefined ? [] : [h('div', h('dt', label), h('dd', value))],
      ),
    );
    this.drawSessions();
    this.drawBudgets(client);
    this.drawCalls();
  }

  /** Redrawn only if it changed, so that a confirmation stays open. */
  drawHead({ token, sessions }) {
    const key = JSON.stringify([token !== undefined, sessions > 0]);
    if (this.headKey === key) return;
    this.headKey = key;
    const [tone, word] = sessions > 0 ? ['good', 'connected'] : ['calm', 'not connected'];
    replace(
      this.head,
      h(
        'div.detail-title',
        h('h2', this.name === '' ? 'Without a name' : this.name),
        h('span.pill', props({ data: { tone } }), word),
      ),
      token === undefined
        ? ''
        : h(
            'div.actions',
            confirmButton('Revoke token', 'Really revoke', () => this.revoke(), {
              kind: 'quiet',
              about: 'ends its sessions',
            }),
          ),
    );
  }

  drawSessions() {
    const own = store.connectedClients.filter(({ client = '' }) => client === this.name);
    replace(
      this.sessions,
      own.length === 0 ? h('p.hint', 'No open session. Clients of 2026-07-28 over HTTP open none.') : '',
      ...own
        .slice(0, MAX_SESSIONS_SHOWN)
        .map(({ session, agent, profile, folder }) =>
          h(
            'div.client-line',
            h('strong', agent === undefined ? 'Unknown agent' : `${agent.name} ${agent.version}`),
            h(
              'span.client-about',
              [folder, this.name === '' ? profile : undefined, `session ${session}`]
                .filter((each) => each !== undefined)
                .join(' · '),
            ),
          ),
        ),
      own.length > MAX_SESSIONS_SHOWN ? h('p.hint', `${own.length - MAX_SESSIONS_SHOWN} more`) : '',
    );
  }

  drawBudgets({ budgets = [] }) {
    const all = [
      ...budgets.map((budget) => [budget, '']),
      ...store.sharedBudgets.map((budget) => [budget, ', shared by all clients']),
    ];
    replace(
      this.budgets,
      ...all.map(([budget, about]) => budgetFigure(budget, about)),
      all.length === 0 ? h('p.hint', 'No budgets.') : '',
    );
  }

  drawCalls() {
    const own = [];
    for (let at = store.calls.length - 1; at >= 0 && own.length < MAX_CALLS_SHOWN; at -= 1)
      if ((store.calls[at].client ?? '') === this.name) own.push(store.calls[at]);
    replace(
      this.calls,
      own.length === 0 ? h('p.hint', 'No calls yet.') : '',
      ...own.map((call) => {
        const [tone, word] = OUTCOMES[call.outcome] ?? ['busy', 'running'];
        return h(
          'div.client-line',
          h('span.client-time', clock.format(call.at)),
          h(`span.dot.${tone}`, props({ aria: { hidden: 'true' } })),
          h('strong', call.tool),
          h(
            'span.client-about',
            [call.server, word, duration(call.ms)].filter((each) => each !== '').join(' · '),
          ),
        );
      }),
    );
  }

  async revoke() {
    try {
      await api('DELETE', `/api/clients/${encodeURIComponent(this.name)}/token`);
      notice(`The token of ${this.name} is revoked.`);
    } catch (error) {
      showError(error);
    }
    this.headKey = undefined;
    await loadClients().catch(showError);
  }
}

function budgetFigure({ calls, resultTokens, per, server, tool, used, resetsInSeconds }, about) {
  const limit = calls ?? resultTokens;
  const unit = calls === undefined ? 'result tokens' : 'calls';
  const scope =
    server === undefined && tool === undefined
      ? ''
      : ` of ${[server ?? '*', tool].filter(Boolean).join('/')}`;
  const label = `${count(used)} of ${count(limit)}`;
  return h(
    'figure.budget',
    props({ data: { full: String(used >= limit) } }),
    h(
      'figcaption',
      h('span', `${unit}${scope} per ${per}${about}`),
      h('span', `${label} · resets in ${timeLeft(resetsInSeconds)}`),
    ),
    share(Math.min(used, limit), Math.max(1, limit), { width: 480, label }),
  );
}

function timeLeft(seconds) {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
