/** The detail of one tool: its definition, a form to run it, and the result. */

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { CallResult, ToolReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { SchemaForm } from '../form/schema-form.tsx';
import { duration } from '../text.ts';
import type { ToolTry } from '../tool-tries.ts';
import { Callout, Pill, Tag } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ResultView } from '../ui/result.tsx';
import { RunningLine } from './running-line.tsx';

const HINTS = [
  ['readOnlyHint', 'read-only', 'good'],
  ['destructiveHint', 'destructive', 'bad'],
  ['idempotentHint', 'idempotent', 'calm'],
  ['openWorldHint', 'open world', 'calm'],
] as const;
/** A result that starts below this fraction of the window is scrolled into view. */
const IN_VIEW = 0.6;

export function ToolDetail({ tool }: { readonly tool: ToolReport }): JSX.Element {
  const { tries } = useApp();
  const toolTry = tries.of(tool);
  const { annotations = {} } = tool;
  return (
    <article class="tool">
      <div class="detail-head">
        <div class="detail-title">
          <h2>{tool.title ?? tool.tool}</h2>
          {HINTS.filter(([key]) => annotations[key] === true).map(([key, label, tone]) => (
            <Tag key={key} tone={tone} title="From the server">
              {label}
            </Tag>
          ))}
        </div>
      </div>
      <p class="tool-names">
        <code>{tool.name}</code>
        <span>{`of ${tool.server}`}</span>
        {tool.deferred === true && <span>· models find it by search</span>}
      </p>
      <Markdown class="about" text={tool.description} />
      <section>
        <h3>Try it</h3>
        <TryForm key={tool.name} toolTry={toolTry} />
      </section>
      <AnswerView toolTry={toolTry} tool={tool} />
      <section>
        <details>
          <summary>Definition</summary>
          <JsonTree value={tool.inputSchema} open />
          {tool.outputSchema !== undefined && (
            <div>
              <h4>Answers with</h4>
              <JsonTree value={tool.outputSchema} open />
            </div>
          )}
        </details>
      </section>
    </article>
  );
}

function TryForm({ toolTry }: { readonly toolTry: ToolTry }): JSX.Element {
  const problems = toolTry.problems.value;
  const isRunning = toolTry.isRunning;
  return (
    <form
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void toolTry.run();
      }}
    >
      <SchemaForm form={toolTry.form.value} />
      <div role="alert">
        {problems.length > 0 && (
          <Callout kind="bad">
            {problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Callout>
        )}
      </div>
      <div class="actions">
        <Button
          kind={isRunning ? 'primary working' : 'primary'}
          disabled={isRunning}
          onPress={() => void toolTry.run()}
        >
          Run
        </Button>
        {isRunning && (
          <Button kind="quiet" onPress={() => toolTry.cancel()}>
            Cancel
          </Button>
        )}
        <span class="keys" aria-hidden="true">
          <kbd>Ctrl</kbd>
          <kbd>↵</kbd>
        </span>
      </div>
    </form>
  );
}

function AnswerView({
  toolTry,
  tool,
}: {
  readonly toolTry: ToolTry;
  readonly tool: ToolReport;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const answer = toolTry.answer.value;
  useEffect(() => {
    if (answer.state === 'none' || answer.state === 'running') return;
    const top = box.current?.getBoundingClientRect().top ?? 0;
    if (top > innerHeight * IN_VIEW) box.current?.scrollIntoView({ block: 'start' });
  }, [answer]);
  return (
    <div class="answer" aria-live="polite" ref={box}>
      {answer.state !== 'none' && (
        <section>
          <h3>
            Answer
            {answer.state === 'done' && (
              <>
                <Pill state={stateOf(answer.result)} />
                <span class="took">{duration(answer.ms)}</span>
              </>
            )}
          </h3>
          {answer.state === 'running' && <RunOf callRef={answer.ref} />}
          {answer.state === 'cancelled' && <Callout kind="warn">The call was cancelled.</Callout>}
          {answer.state === 'failed' && (
            <Callout kind="bad" hint={answer.hint}>
              {answer.message}
            </Callout>
          )}
          {answer.state === 'done' && (
            <>
              <Mismatch result={answer.result} />
              <ResultView result={answer.result} name={tool.tool} />
            </>
          )}
        </section>
      )}
    </div>
  );
}

function stateOf({ isError, mismatch }: CallResult): {
  readonly tone: 'bad' | 'good' | 'warn';
  readonly label: string;
} {
  if (isError === true) return { tone: 'bad', label: 'the tool reported an error' };
  if (mismatch !== undefined) return { tone: 'warn', label: 'does not match its output schema' };
  return { tone: 'good', label: 'ok' };
}

export function Mismatch({ result }: { readonly result: CallResult }): JSX.Element | null {
  if (result.mismatch === undefined) return null;
  return (
    <Callout kind="warn">
      <p>The result does not match the output schema of the tool.</p>
      {result.mismatch.map((problem) => (
        <p key={problem} class="hint">
          {problem}
        </p>
      ))}
    </Callout>
  );
}

/** The running call of this page with this ref. */
function RunOf({ callRef }: { readonly callRef: string }): JSX.Element {
  const { store } = useApp();
  // Read, so that every change of a call is rendered.
  void store.calls.version.value;
  return <RunningLine call={store.calls.withRef(callRef)} />;
}
