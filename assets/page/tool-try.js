/** One tool: what it says about itself, a form to try it, and what it answered. */

import { api } from './api.js';
import { button, duration, h, props, replace } from './dom.js';
import { jsonTree, showResult } from './result.js';
import { schemaForm } from './schema-form.js';
import { store, watch } from './store.js';

const HINTS = [
  ['readOnlyHint', true, 'read-only', 'good'],
  ['destructiveHint', true, 'destructive', 'bad'],
  ['idempotentHint', true, 'idempotent', 'calm'],
  ['openWorldHint', true, 'open world', 'calm'],
];
/** An answer that begins below this part of the window is scrolled to. */
const IN_VIEW = 0.6;

export class ToolTry {
  /** The call that runs now; undefined: none. */
  #stop;

  constructor(tool) {
    this.name = tool.name;
    this.element = h('article.tool');
    this.wrong = h('div', props({ role: 'alert' }));
    this.answer = h('div.answer', props({ aria: { live: 'polite' } }));
    this.go = button('Run', () => this.run(), { kind: 'primary' });
    this.cancel = button('Cancel', () => this.#stop?.abort(), { kind: 'quiet' });
    this.cancel.hidden = true;
    this.refresh(tool);
  }

  get isRunning() {
    return this.#stop !== undefined;
  }

  /** Draws what the server says about it now; what was filled in, and the answer, stay. */
  refresh(tool) {
    const print = JSON.stringify(tool);
    if (tool === undefined || print === this.print) return;
    this.print = print;
    this.draw(tool);
  }

  draw(tool) {
    const { annotations = {}, outputSchema } = tool;
    const tags = HINTS.filter(([key, value]) => annotations[key] === value).map(([, , word, tone]) =>
      h('span.tag', props({ data: { tone }, title: 'As the server says' }), word),
    );
    this.form = schemaForm(tool.inputSchema, { value: this.form?.read().value });
    const form = h(
      'form',
      this.form.element,
      this.wrong,
      h('div.actions', this.go, this.cancel, h('span.keys', h('kbd', 'Ctrl'), h('kbd', '↵'))),
    );
    form.addEventListener('submit', (event) => event.preventDefault());
    // What was wrong with the last attempt is about what was filled in then.
    form.addEventListener('input', () => replace(this.wrong));
    form.addEventListener('click', ({ target }) => {
      if (target.closest('.form-head') !== null) replace(this.wrong);
    });
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.go.click();
    });
    replace(
      this.element,
      h('div.detail-head', h('div.detail-title', h('h2', tool.title ?? tool.tool), ...tags)),
      h(
        'p.tool-names',
        h('code', tool.name),
        h('span', `of ${tool.server}`),
        tool.deferred ? h('span', '· models find it by search') : '',
      ),
      h('p.about', tool.description),
      h('section', h('h3', 'Try it'), form),
      this.answer,
      h(
        'section',
        h(
          'details',
          h('summary', 'Definition'),
          jsonTree(tool.inputSchema, { open: true }),
          outputSchema === undefined
            ? ''
            : h('div', h('h4', 'Answers with'), jsonTree(outputSchema, { open: true })),
        ),
      ),
    );
  }

  async run() {
    const { value, problems } = this.form.check();
    replace(
      this.wrong,
      problems.length === 0 ? '' : h('div.callout.bad', ...problems.map((problem) => h('p', problem))),
    );
    if (problems.length > 0) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.cancel.hidden = false;
    // Its own name for the call: the events of other calls of this tool have other names.
    const ref = crypto.randomUUID();
    const began = performance.now();
    const line = h('span', 'Running …');
    this.show('', h('p.waiting', h('span.spinner', props({ aria: { hidden: 'true' } })), line));
    const unwatch = watch(['calls', 'questions'], () => replace(line, progressOf(ref)));
    try {
      const result = await api('POST', '/api/call', { name: this.name, arguments: value, ref }, stop.signal);
      this.show(
        [pillOf(result), h('span.took', duration(performance.now() - began))],
        mismatchOf(result),
        showResult(result),
      );
    } catch (error) {
      const isStopped = error.name === 'AbortError';
      this.show(
        '',
        h(
          `div.callout.${isStopped ? 'warn' : 'bad'}`,
          h('p', isStopped ? 'The call was cancelled.' : error.message),
          error.hint === undefined ? '' : h('p.hint', error.hint),
        ),
      );
    } finally {
      unwatch();
      this.#stop = undefined;
      this.cancel.hidden = true;
    }
  }

  /** Shows an answer, where it can be seen. */
  show(aside, ...content) {
    replace(this.answer, h('section', h('h3', 'Answer', aside), ...content));
    if (this.answer.isConnected && this.answer.getBoundingClientRect().top > innerHeight * IN_VIEW)
      this.answer.scrollIntoView({ block: 'start' });
  }
}

function pillOf({ isError, mismatch }) {
  const [tone, word] = isError
    ? ['bad', 'the tool says that it failed']
    : mismatch === undefined
      ? ['good', 'ok']
      : ['warn', 'not what it promised'];
  return h('span.pill', props({ data: { tone } }), word);
}

function mismatchOf({ mismatch }) {
  if (mismatch === undefined) return '';
  return h(
    'div.callout.warn',
    h('p', 'The answer does not fit the output schema of the tool.'),
    ...mismatch.map((problem) => h('p.hint', problem)),
  );
}

/** How far the call of this name is. */
function progressOf(ref) {
  const call = store.calls.findLast((each) => each.ref === ref);
  if (call !== undefined && store.questions.some((question) => question.call === call.id))
    return 'Waiting for an answer under Questions …';
  const { progress, total, message } = call?.progress ?? {};
  const share =
    progress === undefined
      ? ''
      : total === undefined
        ? ` ${progress}`
        : ` ${Math.round((progress / total) * 100)} %`;
  return `Running …${share}${message === undefined ? '' : `, ${message}`}`;
}
