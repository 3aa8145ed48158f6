/** The questions view: a card for each approval, elicitation and sampling request that waits for a person. */

import { api } from './api.js';
import { button, h, plain, plural, props, replace } from './dom.js';
import { showError } from './notices.js';
import { jsonTree } from './result.js';
import { bounded, cut, quotation } from './said.js';
import { schemaForm } from './schema-form.js';
import { openUrl } from './server-login.js';
import { loadQuestions, store, watch } from './store.js';

const SETTLE_MS = 600;
/** Limits cards per server, so that one server cannot crowd out others; approvals come from Plugboard itself. */
const MAX_CARDS_PER_SERVER = 3;
const MAX_APPROVALS_PER_SERVER = 20;
const MAX_MESSAGES = 20;
const MAX_NAME_CHARS = 80;
const MAX_URL_CHARS = 400;

export function questionsView() {
  const approvals = h('div.questions', props({ role: 'list', aria: { label: 'Approvals' } }));
  const serverQuestions = h(
    'div.questions',
    props({ role: 'list', aria: { label: 'Questions of servers' } }),
  );
  const more = h('div.questions-more');
  const emptyNotice = h(
    'div.welcome',
    props({ tabIndex: -1 }),
    h('p', 'No open questions.'),
    h('p.hint', 'Calls that need approval, and questions of servers, appear here.'),
  );
  const element = h(
    'div.plain',
    h('div.head', h('div.head-line', h('h1', 'Questions'))),
    emptyNotice,
    // Approvals come first, so that a server's question cannot be placed above them.
    approvals,
    serverQuestions,
    more,
  );
  /** Question id → card; kept while the question is pending, so that input is not lost. */
  const cards = new Map();
  let settling;

  /** Ignores clicks briefly after cards moved: a second click may be meant for the previous card. */
  function settle() {
    element.classList.add('settling');
    clearTimeout(settling);
    settling = setTimeout(() => element.classList.remove('settling'), SETTLE_MS);
  }

  function draw() {
    const { shown, waiting } = selectQuestions(store.questions, cards);
    for (const [id, card] of cards) {
      if (shown.has(id)) continue;
      card.element.remove();
      cards.delete(id);
      settle();
    }
    for (const [id, question] of shown) {
      if (cards.has(id)) continue;
      const card = createCard(question);
      cards.set(id, card);
      (question.kind === 'approval' ? approvals : serverQuestions).append(card.element);
      if (question.kind === 'approval' && serverQuestions.childElementCount > 0) settle();
    }
    replace(more, ...[...waiting].map(([server, questions]) => overflowNotice(server, questions)));
    emptyNotice.hidden = cards.size > 0;
  }
  setInterval(() => {
    if (!document.hidden) for (const card of cards.values()) card.tick();
  }, 1_000);
  watch(['questions'], draw);
  draw();
  // Focuses the card instead of a button, so that a stray key press cannot approve a call.
  return { element, focus: () => (element.querySelector('.question') ?? emptyNotice).focus() };
}

/** Selects the questions to show, preferring those that already have a card; groups the rest by server. */
function selectQuestions(questions, cards) {
  const shown = new Map();
  const waiting = new Map();
  const counts = new Map();
  for (const question of [...questions].sort((a, b) => cards.has(b.id) - cards.has(a.id))) {
    const { id, kind, server } = question;
    const key = JSON.stringify([kind === 'approval', server]);
    const count = counts.get(key) ?? 0;
    if (count < (kind === 'approval' ? MAX_APPROVALS_PER_SERVER : MAX_CARDS_PER_SERVER)) {
      counts.set(key, count + 1);
      shown.set(id, question);
    } else waiting.set(server, [...(waiting.get(server) ?? []), question]);
  }
  return { shown, waiting };
}

function overflowNotice(server, questions) {
  const declineAll = async () => {
    for (const { id, kind } of questions)
      await sendAnswer(id, kind === 'approval' ? 'deny' : 'decline').catch(() => {});
    await loadQuestions().catch(showError);
  };
  return h(
    'div.callout',
    h(
      'p',
      `${plural(questions.length, 'more question')} of `,
      h('strong', server),
      ', shown as these are answered.',
    ),
    h('div.actions', button('Decline them', declineAll, { kind: 'quiet' })),
  );
}

function sendAnswer(id, answer, content) {
  return api('POST', `/api/approvals/${encodeURIComponent(id)}`, {
    answer,
    ...(content === undefined ? {} : { content }),
  });
}

/** Creates the card of a question; if that fails, one that can only be declined, so that other cards still render. */
function createCard(question) {
  try {
    return cardOf(question, BODIES[question.kind]);
  } catch {
    return cardOf(question, unsupportedBody);
  }
}

function cardOf(question, bodyOf) {
  const timeLeft = h('span.left');
  const tick = () => {
    const seconds = Math.max(0, Math.round((question.until - Date.now()) / 1_000));
    replace(timeLeft, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`);
  };
  const errorBox = h('div', props({ role: 'alert' }));
  const answer = (choice, content) => async () => {
    try {
      await sendAnswer(question.id, choice, typeof content === 'function' ? content() : undefined);
      await loadQuestions();
    } catch (error) {
      if (error.status === 404) await loadQuestions().catch(showError);
      replace(
        errorBox,
        h('div.callout.bad', h('p', error.message), error.hint === undefined ? '' : h('p.hint', error.hint)),
      );
    }
  };
  const { title, body, actions } = bodyOf(question, answer);
  tick();
  return {
    tick,
    element: h(
      'article.question',
      props({ role: 'listitem', tabIndex: -1, data: { kind: question.kind } }),
      h(
        'header',
        h('span.kind', KINDS[question.kind] ?? 'Question'),
        ' ',
        h('span.from', cut(plain(question.server), MAX_NAME_CHARS)),
        ' ',
        h('span.for', forCall(question)),
        ' ',
        timeLeft,
      ),
      title,
      // Scrolls separately, so that the title and the buttons stay in view.
      h('div.question-body', ...body),
      errorBox,
      h('div.actions', ...actions),
    ),
  };
}

/** Names the tool whose call a question is about: a server can ask for several calls at once. */
function forCall({ kind, call: id }) {
  const call = kind === 'approval' ? undefined : store.calls.findLast((each) => each.id === id);
  return call === undefined ? '' : `for ${cut(plain(call.tool), MAX_NAME_CHARS)}`;
}

const KINDS = { approval: 'Approval', elicitation: 'Question', sampling: 'Completion' };
const BODIES = { approval, elicitation, sampling };

function unsupportedBody({ kind, server }, answer) {
  return {
    title: h('h2', `A question of ${server} could not be shown`),
    body: [h('p.hint', 'This page does not support its form. You can only decline it here.')],
    actions: [button('Decline', answer(kind === 'approval' ? 'deny' : 'decline'))],
  };
}

function approval({ tool, server, reason, askRule, arguments: args, annotations = {} }, answer) {
  const name = plain(tool);
  const isDestructive = annotations?.destructiveHint === true;
  return {
    title: h(
      'h2',
      'Allow ',
      h('code', cut(name, MAX_NAME_CHARS)),
      ' of ',
      cut(plain(server), MAX_NAME_CHARS),
      '?',
    ),
    body: [
      name.length > MAX_NAME_CHARS ? bounded('p.hint', `Full name: ${name}`) : '',
      h('p.hint', `Asked because ${cut(plain(reason), 500)}.`),
      isDestructive
        ? h(
            'p',
            h('span.tag', props({ data: { tone: 'bad' } }), 'destructive'),
            ' The server marks this tool as destructive.',
          )
        : '',
      Object.keys(args ?? {}).length === 0
        ? h('p.none', 'Without arguments.')
        : h('div.arguments', jsonTree(args, { open: true })),
    ],
    actions: [
      button('Allow once', answer('allow'), { kind: isDestructive ? '' : 'primary' }),
      button('Allow for this session', answer('allow-session')),
      // An `ask` rule overrides a permanent approval.
      ...(askRule === undefined ? [button('Always allow', answer('allow-always'))] : []),
      button('Deny', answer('deny'), { kind: 'danger' }),
    ],
  };
}

function elicitation(question, answer) {
  return question.mode === 'url' ? urlBody(question, answer) : formBody(question, answer);
}

function formBody({ server, message, schema, warning }, answer) {
  const form = schemaForm(schema);
  const read = () => {
    const { value, problems } = form.check();
    if (problems.length > 0) throw new Error(problems.join('; '));
    return value;
  };
  return {
    title: h('h2', `${server} asks`),
    body: [
      quotation(message, { by: server }),
      warning === undefined ? '' : h('div.callout.warn', h('p', warning)),
      h('figure.said.asked', h('figcaption', `Form of ${server}`), form.element),
    ],
    actions: [
      button('Send', answer('accept', read), { kind: 'primary' }),
      button('Decline', answer('decline')),
      button('Cancel the call', answer('cancel'), { kind: 'quiet' }),
    ],
  };
}

/** Shows the URL and opens it only on a click. */
function urlBody({ server, message, url, host, warning }, answer) {
  const accept = answer('accept');
  const open = () => {
    openUrl(url);
    return accept();
  };
  return {
    title: h('h2', `${server} asks you to open `, h('code', cut(plain(host), MAX_NAME_CHARS))),
    body: [
      quotation(message, { by: server }),
      warning === undefined ? '' : h('div.callout.warn', h('p', warning)),
      h('div.url', bounded('code', url, { max: MAX_URL_CHARS })),
    ],
    actions: [
      button('Open it', open, { kind: 'primary' }),
      button('Decline', answer('decline')),
      button('Cancel the call', answer('cancel'), { kind: 'quiet' }),
    ],
  };
}

function sampling({ server, params = {} }, answer) {
  const { systemPrompt, messages = [] } = params;
  const text = h(
    'textarea',
    props({
      rows: 4,
      placeholder: 'Answer in place of the model',
      aria: { label: 'The completion' },
    }),
  );
  const read = () => ({ role: 'assistant', model: 'a person', content: { type: 'text', text: text.value } });
  return {
    title: h('h2', `${server} requests a completion`),
    body: [
      systemPrompt === undefined ? '' : quotation(systemPrompt, { by: server, what: 'System prompt' }),
      h(
        'figure.said',
        h('figcaption', `${plural(messages.length, 'message')} of ${server}`),
        ...messages
          .slice(0, MAX_MESSAGES)
          .map(({ role, content }) => h('div.message', h('span', role), ...[content].flat().map(blockOf))),
        messages.length > MAX_MESSAGES ? h('p.none', `${messages.length - MAX_MESSAGES} more messages`) : '',
      ),
      text,
    ],
    actions: [
      button('Send', answer('accept', read), { kind: 'primary' }),
      button('Decline', answer('decline')),
    ],
  };
}

function blockOf(block) {
  if (block?.type === 'text') return bounded('div.said-text', block.text);
  return h('div.said-text', `(${plain(block?.type)}, ${plain(block?.mimeType)})`);
}
