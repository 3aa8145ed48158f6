/** The view of questions: what has to be decided by a person, with everything that is needed to decide it. */

import { api } from './api.js';
import { button, h, replace } from './dom.js';
import { failed } from './notices.js';
import { jsonTree } from './result.js';
import { schemaForm } from './schema-form.js';
import { openAddress } from './server-login.js';
import { loadQuestions, store, watch } from './store.js';

const SETTLE_MS = 600;

export function questionsView() {
  const list = h('div.questions', { role: 'list' });
  const none = h(
    'div.welcome',
    h('p', 'Nothing waits for you.'),
    h(
      'p.hint',
      'Calls that have to be approved, and questions of servers, appear here while this page is open.',
    ),
  );
  const element = h('div.plain', h('div.head', h('div.head-line', h('h1', 'Questions'))), none, list);
  /** Kept for as long as a question waits: what is being filled in must not be lost. */
  const cards = new Map();
  let settling;

  /** What moved under the pointer cannot be pressed at once: a second click was meant for what was there before. */
  function settle() {
    list.classList.add('settling');
    clearTimeout(settling);
    settling = setTimeout(() => list.classList.remove('settling'), SETTLE_MS);
  }

  function draw() {
    const waiting = new Set(store.questions.map(({ id }) => id));
    for (const [id, card] of cards) {
      if (waiting.has(id)) continue;
      card.element.remove();
      cards.delete(id);
      settle();
    }
    for (const question of store.questions) {
      if (cards.has(question.id)) continue;
      const card = cardOf(question);
      cards.set(question.id, card);
      list.append(card.element);
    }
    none.hidden = cards.size > 0;
  }
  setInterval(() => {
    if (!document.hidden) for (const card of cards.values()) card.tick();
  }, 1_000);
  watch(['questions'], draw);
  draw();
  // Not a button: what is pressed by habit must not be an approval.
  return { element, focus: () => list.firstElementChild?.focus() };
}

function cardOf(question) {
  const left = h('span.left');
  const tick = () => {
    const seconds = Math.max(0, Math.round((question.until - Date.now()) / 1_000));
    replace(left, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`);
  };
  const wrong = h('div', { role: 'alert' });
  const answer = (word, content) => async () => {
    try {
      const given = typeof content === 'function' ? content() : undefined;
      await api('POST', `/api/approvals/${encodeURIComponent(question.id)}`, {
        answer: word,
        ...(given === undefined ? {} : { content: given }),
      });
      await loadQuestions();
    } catch (error) {
      if (error.status === 404) await loadQuestions().catch(failed);
      replace(
        wrong,
        h('div.callout.bad', h('p', error.message), error.hint === undefined ? '' : h('p.hint', error.hint)),
      );
    }
  };
  const body = { approval, elicitation, sampling }[question.kind]?.(question, answer) ?? [];
  tick();
  return {
    tick,
    element: h(
      'article.question',
      { role: 'listitem', tabIndex: -1, data: { kind: question.kind } },
      h(
        'header',
        h('span.kind', KINDS[question.kind] ?? question.kind),
        h('span.from', question.server),
        left,
      ),
      ...body,
      wrong,
    ),
  };
}

const KINDS = { approval: 'Approval', elicitation: 'Question', sampling: 'Completion' };

function approval({ tool, server, reason, arguments: args, annotations = {} }, answer) {
  const warned = annotations.destructiveHint === true;
  return [
    h('h2', 'Allow ', h('code', tool), ' of ', server, '?'),
    h('p.hint', `Asked because ${reason}.`, warned ? ' The server says that it is destructive.' : ''),
    Object.keys(args ?? {}).length === 0
      ? h('p.none', 'Without arguments.')
      : h('div.arguments', jsonTree(args, { open: true })),
    h(
      'div.actions',
      button('Allow once', answer('allow'), { kind: 'primary' }),
      button('Allow for this session', answer('allow-session')),
      button('Always allow', answer('allow-always')),
      button('Deny', answer('deny'), { kind: 'danger' }),
    ),
  ];
}

function elicitation(question, answer) {
  return question.mode === 'url' ? address(question, answer) : formOf(question, answer);
}

function formOf({ server, message, schema }, answer) {
  const form = schemaForm(schema);
  const read = () => {
    const { value, problems } = form.read();
    if (problems.length > 0) throw new Error(problems.join('; '));
    return value;
  };
  return [
    h('h2', `${server} asks`),
    h('p.about', message),
    form.element,
    h(
      'div.actions',
      button('Send', answer('accept', read), { kind: 'primary' }),
      button('Decline', answer('decline')),
      button('Cancel the call', answer('cancel'), { kind: 'quiet' }),
    ),
  ];
}

/** Never opened by itself: the person sees where it leads first. */
function address({ server, message, url, host, warning }, answer) {
  const accept = answer('accept');
  const open = () => {
    openAddress(url);
    return accept();
  };
  return [
    h('h2', `${server} wants you to open `, h('code', host ?? '')),
    h('p.about', message),
    warning === undefined ? '' : h('div.callout.warn', h('p', warning)),
    h('p.url', h('code', url)),
    h(
      'div.actions',
      button('Open it', open, { kind: 'primary' }),
      button('Decline', answer('decline')),
      button('Cancel the call', answer('cancel'), { kind: 'quiet' }),
    ),
  ];
}

function sampling({ server, params = {} }, answer) {
  const text = h('textarea', {
    rows: 4,
    placeholder: 'What the model should have answered',
    aria: { label: 'The completion' },
  });
  const read = () => ({ role: 'assistant', model: 'a person', content: { type: 'text', text: text.value } });
  const said = ({ content }) => (content?.type === 'text' ? content.text : JSON.stringify(content));
  return [
    h('h2', `${server} asks a model`),
    params.systemPrompt === undefined ? '' : h('p.hint', params.systemPrompt),
    h(
      'div.messages',
      ...(params.messages ?? []).map((message) =>
        h('div.message', h('span', String(message.role)), h('p', said(message))),
      ),
    ),
    text,
    h(
      'div.actions',
      button('Send', answer('accept', read), { kind: 'primary' }),
      button('Decline', answer('decline')),
    ),
  ];
}
