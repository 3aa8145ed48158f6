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

export class ToolTry {
  constructor(tool) {
    this.name = tool.name;
    this.print = JSON.stringify(tool);
    this.element = h('article.tool');
    this.draw(tool);
  }

  /** What the server says about it now; a form that is being filled in stays unless it is another one. */
  refresh(tool) {
    if (tool === undefined || JSON.stringify(tool) === this.print) return;
    this.print = JSON.stringify(tool);
    this.draw(tool);
  }

  draw(tool) {
    const { annotations = {}, outputSchema } = tool;
    const tags = HINTS.filter(([key, value]) => annotations[key] === value).map(([, , word, tone]) =>
      h('span.tag', props({ data: { tone }, title: 'As the server says' }), word),
    );
    this.form = schemaForm(tool.inputSchema);
    this.wrong = h('div', props({ role: 'alert' }));
    this.answer = h('div.answer', props({ aria: { live: 'polite' } }));
    this.stop = undefined;
    const go = button('Run', () => this.run(), { kind: 'primary' });
    this.cancel = button('Cancel', () => this.stop?.abort(), { kind: 'quiet' });
    this.cancel.hidden = true;
    const form = h(
      'form',
      this.form.element,
      this.wrong,
      h('div.actions', go, this.cancel, h('span.keys', h('kbd', 'Ctrl'), h('kbd', '↵'))),
    );
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) go.click();
    });
    replace(
      this.element,
      h('div.detail-head', h('div.detail-title', h('h2', tool.title ?? tool.tool), ...tags)),
      h('p.tool-names', h('code', tool.name), h('span', `of ${tool.server}`)),
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
    const { value, problems } = this.form.read();
    replace(
      this.wrong,
      problems.length === 0 ? '' : h('div.callout.bad', ...problems.map((problem) => h('p', problem))),
    );
    if (problems.length > 0) return;
    this.stop = new AbortController();
    this.cancel.hidden = false;
    const began = performance.now();
    const progress = h(
      'p.waiting',
      h('span.spinner', props({ aria: { hidden: 'true' } })),
      h('span', 'Running …'),
    );
    replace(this.answer, h('section', h('h3', 'Answer'), progress));
    const unwatch = watch(['calls', 'questions'], () => this.showProgress(progress));
    try {
      const result = await api('POST', '/api/call', { name: this.name, arguments: value }, this.stop.signal);
      const took = performance.now() - began;
      const pill = h(
        'span.pill',
        props({ data: { tone: result.isError ? 'bad' : 'good' } }),
        result.isError ? 'the tool says that it failed' : 'ok',
      );
      replace(
        this.answer,
        h('section', h('h3', 'Answer', pill, h('span.took', duration(took))), showResult(result)),
      );
    } catch (error) {
      const stopped = error.name === 'AbortError';
      replace(
        this.answer,
        h(
          'section',
          h('h3', 'Answer'),
          h(
            `div.callout.${stopped ? 'warn' : 'bad'}`,
            h('p', stopped ? 'The call was cancelled.' : error.message),
            error.hint === undefined ? '' : h('p.hint', error.hint),
          ),
        ),
      );
    } finally {
      unwatch();
      this.cancel.hidden = true;
    }
  }

  showProgress(line) {
    const call = store.calls.findLast((each) => each.outcome === undefined && this.name.endsWith(each.tool));
    const asked = store.questions.length > 0;
    const { progress, total, message } = call?.progress ?? {};
    const share =
      progress === undefined
        ? ''
        : total === undefined
          ? ` ${progress}`
          : ` ${Math.round((progress / total) * 100)} %`;
    replace(
      line.lastElementChild,
      asked
        ? 'Waiting for an answer under Questions …'
        : `Running …${share}${message === undefined ? '' : `, ${message}`}`,
    );
  }
}
