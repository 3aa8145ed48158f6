/** The detail of one tool: its definition, a form to run it, and the result. */

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
/** A result that starts below this fraction of the window is scrolled into view. */
const IN_VIEW = 0.6;

export class ToolTry {
  /** Aborts the running call; undefined if there is none. */
  #abortController;

  constructor(tool) {
    this.name = tool.name;
    this.element = h('article.tool');
    this.errors = h('div', props({ role: 'alert' }));
    this.answer = h('div.answer', props({ aria: { live: 'polite' } }));
    this.runButton = button('Run', () => this.run(), { kind: 'primary' });
    this.cancelButton = button('Cancel', () => this.#abortController?.abort(), { kind: 'quiet' });
    this.cancelButton.hidden = true;
    this.refresh(tool);
  }

  get isRunning() {
    return this.#abortController !== undefined;
  }

  /** Redraws the tool if its definition changed; keeps the input and the result. */
  refresh(tool) {
    const fingerprint = JSON.stringify(tool);
    if (tool === undefined || fingerprint === this.fingerprint) return;
    this.fingerprint = fingerprint;
    this.draw(tool);
  }

  draw(tool) {
    const { annotations = {}, outputSchema } = tool;
    const tags = HINTS.filter(([key, value]) => annotations[key] === value).map(([, , word, tone]) =>
      h('span.tag', props({ data: { tone }, title: 'From the server' }), word),
    );
    this.form = schemaForm(tool.inputSchema, { value: this.form?.read().value });
    const form = h(
      'form',
      this.form.element,
      this.errors,
      h('div.actions', this.runButton, this.cancelButton, h('span.keys', h('kbd', 'Ctrl'), h('kbd', '↵'))),
    );
    form.addEventListener('submit', (event) => event.preventDefault());
    // Problems of the last attempt are outdated after an edit.
    form.addEventListener('input', () => replace(this.errors));
    form.addEventListener('click', ({ target }) => {
      if (target.closest('.form-head') !== null) replace(this.errors);
    });
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.runButton.click();
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
      this.errors,
      problems.length === 0 ? '' : h('div.callout.bad', ...problems.map((problem) => h('p', problem))),
    );
    if (problems.length > 0) return;
    const controller = new AbortController();
    this.#abortController = controller;
    this.cancelButton.hidden = false;
    // Identifies events of this call among other calls of the same tool.
    const ref = crypto.randomUUID();
    const startedAt = performance.now();
    const line = h('span', 'Running …');
    this.show('', h('p.waiting', h('span.spinner', props({ aria: { hidden: 'true' } })), line));
    const unwatch = watch(['calls', 'questions'], () => replace(line, progressOf(ref)));
    try {
      const result = await api(
        'POST',
        '/api/call',
        { name: this.name, arguments: value, ref },
        controller.signal,
      );
      this.show(
        [pillOf(result), h('span.took', duration(performance.now() - startedAt))],
        mismatchOf(result),
        showResult(result),
      );
    } catch (error) {
      const isCancelled = error.name === 'AbortError';
      this.show(
        '',
        h(
          `div.callout.${isCancelled ? 'warn' : 'bad'}`,
          h('p', isCancelled ? 'The call was cancelled.' : error.message),
          error.hint === undefined ? '' : h('p.hint', error.hint),
        ),
      );
    } finally {
      unwatch();
      this.#abortController = undefined;
      this.cancelButton.hidden = true;
    }
  }

  /** Shows a result, and scrolls to it if it starts too far down. */
  show(aside, ...content) {
    replace(this.answer, h('section', h('h3', 'Answer', aside), ...content));
    if (this.answer.isConnected && this.answer.getBoundingClientRect().top > innerHeight * IN_VIEW)
      this.answer.scrollIntoView({ block: 'start' });
  }
}

function pillOf({ isError, mismatch }) {
  const [tone, word] = isError
    ? ['bad', 'the tool reported an error']
    : mismatch === undefined
      ? ['good', 'ok']
      : ['warn', 'does not match its output schema'];
  return h('span.pill', props({ data: { tone } }), word);
}

function mismatchOf({ mismatch }) {
  if (mismatch === undefined) return '';
  return h(
    'div.callout.warn',
    h('p', 'The result does not match the output schema of the tool.'),
    ...mismatch.map((problem) => h('p.hint', problem)),
  );
}

/** Returns the progress of the call with this ref. */
function progressOf(ref) {
  const call = store.calls.findLast((each) => each.ref === ref);
  if (call !== undefined && store.questions.some((question) => question.call === call.id))
    return 'Waiting for your answer under Questions …';
  const { progress, total, message } = call?.progress ?? {};
  const share =
    progress === undefined
      ? ''
      : total === undefined
        ? ` ${progress}`
        : ` ${Math.round((progress / total) * 100)} %`;
  return `Running …${share}${message === undefined ? '' : `, ${message}`}`;
}
