/** The view of questions: what has to be decided by a person, with everything that is needed to decide it. */

import { api } from './api.js';
import { button, h, plain, plural, props, replace } from './dom.js';
import { failed } from './notices.js';
import { jsonTree } from './result.js';
import { bounded, cut, said } from './said.js';
import { schemaForm } from './schema-form.js';
import { openAddress } from './server-login.js';
import { loadQuestions, store, watch } from './store.js';

const SETTLE_MS = 600;
/** One server's questions must not push those of others out of view; approvals are asked by Plugboard. */
const MAX_CARDS_PER_SERVER = 3;
const MAX_APPROVALS_PER_SERVER = 20;
const MAX_MESSAGES = 20;
const MAX_NAME_CHARS = 80;
const MAX_URL_CHARS = 400;

export function questionsView() {
  const approvals = h('div.questions', props({ role: 'list', aria: { label: 'Approvals' } }));
  const asked = h('div.questions', props({ role: 'list', aria: { label: 'Questions of servers' } }));
  const more = h('div.questions-more');
  const none = h(
    'div.welcome',
    props({ tabIndex: -1 }),
    h('p', 'Nothing waits for you.'),
    h(
      'p.hint',
      'Calls that have to be approved, and questions of servers, appear here while this page is open.',
    ),
  );
  const element = h(
    'div.plain',
    h('div.head', h('div.head-line', h('h1', 'Questions'))),
    none,
    // Approvals come first: nothing that a server asks can stand above them.
    approvals,
    asked,
    more,
  );
  /** Kept for as long as a question waits: what is being filled in must not be lost. */
  const cards = new Map();
  let settling;

  /** What moved under the pointer cannot be pressed at once: a second click was meant for what was there before. */
  function settle() {
    element.classList.add('settling');
    clearTimeout(settling);
    settling = setTimeout(() => element.classList.remove('settling'), SETTLE_MS);
  }

  function draw() {
    const { shown, waiting } = inTurn(store.questions, cards);
    for (const [id, card] of cards) {
      if (shown.has(id)) continue;
      card.element.remove();
      cards.delete(id);
      settle();
    }
    for (const [id, question] of shown) {
      if (cards.has(id)) continue;
      const card = drawnCard(question);
      cards.set(id, card);
      (question.kind === 'approval' ? approvals : asked).append(card.element);
      if (question.kind === 'approval' && asked.childElementCount > 0) settle();
    }
    replace(more, ...[...waiting].map(([server, questions]) => moreOf(server, questions)));
    none.hidden = cards.size > 0;
  }
  setInterval(() => {
    if (!document.hidden) for (const card of cards.values()) card.tick();
  }, 1_000);
  watch(['questions'], draw);
  draw();
  // Not a button: what is pressed by habit must not be an approval.
  return { element, focus: () => (element.querySelector('.question') ?? none).focus() };
}

/** Which questions have a card, those that have one first, and the others by server. */
function inTurn(questions, cards) {
  const shown = new Map();
  const waiting = new Map();
  const places = new Map();
  for (const question of [...questions].sort((a, b) => cards.has(b.id) - cards.has(a.id))) {
    const { id, kind, server } = question;
    const place = JSON.stringify([kind === 'approval', server]);
    const taken = places.get(place) ?? 0;
    if (taken < (kind === 'approval' ? MAX_APPROVALS_PER_SERVER : MAX_CARDS_PER_SERVER)) {
      places.set(place, taken + 1);
      shown.set(id, question);
    } else waiting.set(server, [...(waiting.get(server) ?? []), question]);
  }
  return { shown, waiting };
}

function moreOf(server, questions) {
  const refuse = async () => {
    for (const { id, kind } of questions)
      await sendAnswer(id, kind === 'approval' ? 'deny' : 'decline').catch(() => {});
    await loadQuestions().catch(failed);
  };
  return h(
    'div.callout',
    h(
      'p',
      `${plural(questions.length, 'more question')} of `,
      h('strong', server),
      ', shown as these are answered.',
    ),
    h('div.actions', button('Decline them', refuse, { kind: 'quiet' })),
  );
}

function sendAnswer(id, answer, content) {
  return api('POST', `/api/approvals/${encodeURIComponent(id)}`, {
    answer,
    ...(content === undefined ? {} : { content }),
  });
}

/** A card that cannot be drawn is still there, to be declined, and keeps no other from being drawn. */
function drawnCard(question) {
  try {
    return cardOf(question, BODIES[question.kind]);
  } catch {
    return cardOf(question, unshown);
  }
}

function cardOf(question, bodyOf) {
  const left = h('span.left');
  const tick = () => {
    const seconds = Math.max(0, Math.round((question.until - Date.now()) / 1_000));
    replace(left, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`);
  };
  const wrong = h('div', props({ role: 'alert' }));
  const answer = (word, content) => async () => {
    try {
      await sendAnswer(question.id, word, typeof content === 'function' ? content() : undefined);
      await loadQuestions();
    } catch (error) {
      if (error.status === 404) await loadQuestions().catch(failed);
      replace(
        wrong,
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
        left,
      ),
      title,
      // Scrolls by itself: however long it is, what is above and below it stays in view.
      h('div.question-body', ...body),
      wrong,
      h('div.actions', ...actions),
    ),
  };
}

/** Which call it is about: one server may ask for several at once. */
function forCall({ kind, call: id }) {
  const call = kind === 'approval' ? undefined : store.calls.findLast((each) => each.id === id);
  return call === undefined ? '' : `for ${cut(plain(call.tool), MAX_NAME_CHARS)}`;
}

const KINDS = { approval: 'Approval', elicitation: 'Question', sampling: 'Completion' };
const BODIES = { approval, elicitation, sampling };

function unshown({ kind, server }, answer) {
  return {
    title: h('h2', `A question of ${server} could not be shown`),
    body: [h('p.hint', 'It has a form that this page does not know. It can only be declined here.')],
    actions: [button('Decline', answer(kind === 'approval' ? 'deny' : 'decline'))],
  };
}

function approval({ tool, server, reason, askRule, arguments: args, annotations = {} }, answer) {
  const name = plain(tool);
  const warned = annotations?.destructiveHint === true;
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
      name.length > MAX_NAME_CHARS ? bounded('p.hint', `Its whole name is ${name}`) : '',
      h('p.hint', `Asked because ${cut(plain(reason), 500)}.`),
      warned
        ? h(
            'p',
            h('span.tag', props({ data: { tone: 'bad' } }), 'destructive'),
            ' The server says that it destroys something.',
          )
        : '',
      Object.keys(args ?? {}).length === 0
        ? h('p.none', 'Without arguments.')
        : h('div.arguments', jsonTree(args, { open: true })),
    ],
    actions: [
      button('Allow once', answer('allow'), { kind: warned ? '' : 'primary' }),
      button('Allow for this session', answer('allow-session')),
      // A lasting rule has no effect against an `ask` rule.
      ...(askRule === undefined ? [button('Always allow', answer('allow-always'))] : []),
      button('Deny', answer('deny'), { kind: 'danger' }),
    ],
  };
}

function elicitation(question, answer) {
  return question.mode === 'url' ? address(question, answer) : formOf(question, answer);
}

function formOf({ server, message, schema, warning }, answer) {
  const form = schemaForm(schema);
  const read = () => {
    const { value, problems } = form.check();
    if (problems.length > 0) throw new Error(problems.join('; '));
    return value;
  };
  return {
    title: h('h2', `${server} asks`),
    body: [
      said(message, { by: server }),
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

/** Never opened by itself: the person sees where it leads first. */
function address({ server, message, url, host, warning }, answer) {
  const accept = answer('accept');
  const open = () => {
    openAddress(url);
    return accept();
  };
  return {
    title: h('h2', `${server} wants you to open `, h('code', cut(plain(host), MAX_NAME_CHARS))),
    body: [
      said(message, { by: server }),
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
      placeholder: 'What the model should have answered',
      aria: { label: 'The completion' },
    }),
  );
  const read = () => ({ role: 'assistant', model: 'a person', content: { type: 'text', text: text.value } });
  return {
    title: h('h2', `${server} asks a model`),
    body: [
      systemPrompt === undefined ? '' : said(systemPrompt, { by: server, what: 'System prompt' }),
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
