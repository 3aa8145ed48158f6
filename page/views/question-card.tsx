/** The card of one question: who asks, what for, and the buttons that answer it. */

import { useSignal } from '@preact/signals';
import { Component, type ComponentChildren, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { ApiError, apiPath } from '../api.ts';
import type { Question } from '../api-types.ts';
import { type App, useApp } from '../app.ts';
import { agentText, ownClientOf } from '../call-state.ts';
import { FormState } from '../form/form-state.ts';
import { SchemaForm } from '../form/schema-form.tsx';
import { cut, plain, plural } from '../text.ts';
import { ErrorCallout, openUrl, Tag } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { useNow } from '../ui/now.ts';
import { RuleEditor } from '../ui/rule-editor.tsx';
import { Bounded, Quotation } from '../ui/said.tsx';

const MAX_MESSAGES = 20;
const MAX_NAME_CHARS = 80;
const MAX_REASON_CHARS = 500;
const MAX_URL_CHARS = 400;
const MAX_FOLDER_CHARS = 200;

const KINDS: Readonly<Record<string, string>> = {
  approval: 'Approval',
  elicitation: 'Question',
  sampling: 'Completion',
};

/** Sends an answer; `content` may throw why it cannot be sent. */
type Answer = (answer: string, content?: () => unknown, rule?: () => string) => () => Promise<void>;

interface BodyProps {
  readonly question: Question;
  readonly answer: Answer;
}

export function QuestionCard({ question }: { readonly question: Question }): JSX.Element {
  const app = useApp();
  const error = useSignal<unknown>(undefined);
  const answer: Answer = (choice, content, rule) => async () => {
    error.value = undefined;
    try {
      const given = content?.();
      await sendAnswer(app, question.id, {
        answer: choice,
        ...(given === undefined ? {} : { content: given }),
        ...(rule === undefined ? {} : { rule: rule() }),
      });
      app.drafts.remove(draftKey(question));
      await app.store.loadQuestions();
    } catch (failure) {
      if (failure instanceof ApiError && failure.status === 404)
        await app.store.loadQuestions().catch((again) => app.notices.showError(again));
      error.value = failure;
    }
  };
  const Body = BODIES[question.kind] ?? Unsupported;
  return (
    <div
      class="question"
      role="listitem"
      tabIndex={-1}
      data-focus="view"
      data-kind={question.kind}
      data-danger={question.kind === 'approval' ? dangerOf(question) : undefined}
    >
      <header>
        <span class="kind">{KINDS[question.kind] ?? 'Question'}</span>{' '}
        <span class="from">{cut(plain(question.server), MAX_NAME_CHARS)}</span>{' '}
        <span class="for">{forCall(app, question)}</span> <TimeLeft until={question.until} />
      </header>
      <Asker question={question} />
      <CardBoundary fallback={<Unsupported question={question} answer={answer} />}>
        <Body question={question} answer={answer} />
      </CardBoundary>
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
    </div>
  );
}

/** Who made the call that the question is about, and from which folder. */
function Asker({ question }: { readonly question: Question }): JSX.Element | null {
  const { agent, client, profile, folder } = question;
  const who = agent === undefined ? client : agentText(agent);
  const ownClient = ownClientOf(question);
  if (who === undefined && folder === undefined) return null;
  return (
    <p class="asker">
      <strong>{cut(plain(who ?? 'An agent'), MAX_NAME_CHARS)}</strong>
      {ownClient !== undefined && agent !== undefined && (
        <span>{` as ${cut(plain(ownClient), MAX_NAME_CHARS)}`}</span>
      )}
      {profile !== undefined && <span>{` · profile ${cut(plain(profile), MAX_NAME_CHARS)}`}</span>}
      {folder !== undefined && (
        <span>
          {' · in '}
          <code>{cut(plain(folder), MAX_FOLDER_CHARS)}</code>
        </span>
      )}
    </p>
  );
}

export function sendAnswer({ api }: App, id: string, answer: object): Promise<unknown> {
  return api.send('POST', apiPath('approvals', id), answer);
}

function draftKey({ id }: Question): string {
  return `question:${id}`;
}

/** Shows a card that can only be declined if a question cannot be rendered, so that other cards still are. */
class CardBoundary extends Component<
  { fallback: JSX.Element; children: ComponentChildren },
  { failed: boolean }
> {
  override state = { failed: false };

  static override getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ComponentChildren {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}

function TimeLeft({ until }: { readonly until: number }): JSX.Element {
  const seconds = Math.max(0, Math.round((until - useNow(1_000)) / 1_000));
  return (
    <span class="left">{`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`}</span>
  );
}

/** Names the tool whose call a question is about: a server can ask for several calls at once. */
function forCall({ store }: App, { kind, call, tool }: Question): string {
  if (kind === 'approval') return '';
  void store.calls.version.value;
  const name = tool ?? (call === undefined ? undefined : store.calls.get(call)?.tool);
  return name === undefined ? '' : `for ${cut(plain(name), MAX_NAME_CHARS)}`;
}

/** Scrolls separately, so that the title and the buttons stay in view. */
function CardBody({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="question-body" tabIndex={0} role="group" aria-label="Content of the question">
      {children}
    </div>
  );
}

function Unsupported({ question: { kind, server }, answer }: BodyProps): JSX.Element {
  return (
    <>
      <h2>{`A question of ${server} could not be shown`}</h2>
      <CardBody>
        <p class="hint">This page does not support its form. You can only decline it here.</p>
      </CardBody>
      <div class="actions">
        <Button onPress={answer(kind === 'approval' ? 'deny' : 'decline')}>Decline</Button>
      </div>
    </>
  );
}

function Approval({ question, answer }: BodyProps): JSX.Element {
  const { tool, server, reason, askRule, arguments: args = {} } = question;
  const name = plain(tool);
  const isAlways = useSignal(false);
  const rule = useSignal(question.rule ?? '');
  const danger = dangerOf(question);
  return (
    <>
      <h2>
        {'Allow '}
        <code>{cut(name, MAX_NAME_CHARS)}</code>
        {' of '}
        {cut(plain(server), MAX_NAME_CHARS)}?
      </h2>
      <CardBody>
        {name.length > MAX_NAME_CHARS && <Bounded as="p" class="hint" text={`Full name: ${name}`} />}
        <p class="hint">{`Asked because ${cut(plain(reason), MAX_REASON_CHARS)}.`}</p>
        {danger === 'destructive' && (
          <p>
            <Tag tone="bad">destructive</Tag> The server marks this tool as destructive.
          </p>
        )}
        {danger === 'unknown' && (
          <p>
            <Tag tone="warn">may change things</Tag> The tool is not marked as read-only.
          </p>
        )}
        {Object.keys(args).length === 0 ? (
          <p class="none">Without arguments.</p>
        ) : (
          <div class="arguments">
            <JsonTree value={args} open />
          </div>
        )}
      </CardBody>
      {isAlways.value && (
        <div class="always">
          <p class="hint">{`This rule is added to ${question.ruleIn ?? 'permissions.allow'}:`}</p>
          <RuleEditor
            id={`rule-${question.id.replaceAll(/\W/g, '')}`}
            rule={rule}
            list="allow"
            question={question.id}
            suggestions={question.suggestions}
          />
        </div>
      )}
      <div class="actions">
        {isAlways.value ? (
          <>
            <Button kind="primary" onPress={answer('allow-always', undefined, () => rule.value.trim())}>
              Add the rule and allow
            </Button>
            <Button
              onPress={() => {
                isAlways.value = false;
              }}
            >
              Not always
            </Button>
          </>
        ) : (
          <>
            <Button kind={danger === 'destructive' ? '' : 'primary'} onPress={answer('allow')}>
              Allow once
            </Button>
            <Button onPress={answer('allow-session')}>Allow for this session</Button>
            {/* An ask rule overrides a permanent approval. */}
            {askRule === undefined && (
              <Button
                onPress={
                  question.rule === undefined
                    ? answer('allow-always')
                    : () => {
                        isAlways.value = true;
                      }
                }
              >
                Always allow
              </Button>
            )}
          </>
        )}
        <Button kind="danger" onPress={answer('deny')}>
          Deny
        </Button>
      </div>
    </>
  );
}

/** How dangerous a call is: marked as destructive, not marked at all, or known not to be. */
function dangerOf({ destructive, annotations }: Question): 'destructive' | 'unknown' | undefined {
  if (annotations?.['destructiveHint'] === true) return 'destructive';
  return destructive === true ? 'unknown' : undefined;
}

function Elicitation(props: BodyProps): JSX.Element {
  return props.question.mode === 'url' ? <AddressQuestion {...props} /> : <FormQuestion {...props} />;
}

function FormQuestion({ question, answer }: BodyProps): JSX.Element {
  const { drafts } = useApp();
  const { server, message, schema, warning } = question;
  const form = useMemo(
    () =>
      new FormState(schema, {
        id: `answer-${question.id.replaceAll(/\W/g, '')}`,
        draft: drafts.load(draftKey(question)),
        onChange: (draft) => drafts.save(draftKey(question), draft),
      }),
    [question.id],
  );
  const read = (): unknown => {
    const { value, problems } = form.check();
    if (problems.length > 0) throw new Error(problems.join('; '));
    return value;
  };
  return (
    <>
      <h2>{`${server} asks`}</h2>
      <CardBody>
        <Quotation text={message} by={server} />
        <Warning text={warning} />
        <figure class="said asked">
          <figcaption>{`Form of ${server}`}</figcaption>
          <SchemaForm form={form} />
        </figure>
      </CardBody>
      <div class="actions">
        <Button kind="primary" onPress={answer('accept', read)}>
          Send
        </Button>
        <Button onPress={answer('decline')}>Decline</Button>
        <Button kind="quiet" onPress={answer('cancel')}>
          Cancel the call
        </Button>
      </div>
    </>
  );
}

function Warning({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <div class="callout warn">
      <p>{text}</p>
    </div>
  );
}

/** Shows the URL and opens it only on a click. */
function AddressQuestion({ question, answer }: BodyProps): JSX.Element {
  const { server, message, url = '', host, warning } = question;
  const open = (): Promise<void> => {
    openUrl(url);
    return answer('accept')();
  };
  return (
    <>
      <h2>
        {`${server} asks you to open `}
        <code>{cut(plain(host), MAX_NAME_CHARS)}</code>
      </h2>
      <CardBody>
        <Quotation text={message} by={server} />
        <Warning text={warning} />
        <div class="url">
          <Bounded as="code" text={url} max={MAX_URL_CHARS} />
        </div>
      </CardBody>
      <div class="actions">
        <Button kind="primary" onPress={open}>
          Open it
        </Button>
        <Button onPress={answer('decline')}>Decline</Button>
        <Button kind="quiet" onPress={answer('cancel')}>
          Cancel the call
        </Button>
      </div>
    </>
  );
}

function Sampling({ question, answer }: BodyProps): JSX.Element {
  const { server, params = {} } = question;
  const text = useSignal('');
  const { systemPrompt, messages = [] } = params;
  const read = (): unknown => ({
    role: 'assistant',
    model: 'a person',
    content: { type: 'text', text: text.value },
  });
  return (
    <>
      <h2>{`${server} requests a completion`}</h2>
      <CardBody>
        {systemPrompt !== undefined && <Quotation text={systemPrompt} by={server} what="System prompt" />}
        <figure class="said">
          <figcaption>{`${plural(messages.length, 'message')} of ${server}`}</figcaption>
          {messages.slice(0, MAX_MESSAGES).map(({ role, content }, at) => (
            <div key={at} class="message">
              <span>{plain(role)}</span>
              {[content].flat().map((block, index) => (
                <SampleBlock key={index} block={block} />
              ))}
            </div>
          ))}
          {messages.length > MAX_MESSAGES && (
            <p class="none">{`${messages.length - MAX_MESSAGES} more messages`}</p>
          )}
        </figure>
        <textarea
          rows={4}
          placeholder="Answer in place of the model"
          aria-label="The completion"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </CardBody>
      <div class="actions">
        <Button kind="primary" onPress={answer('accept', read)}>
          Send
        </Button>
        <Button onPress={answer('decline')}>Decline</Button>
      </div>
    </>
  );
}

function SampleBlock({ block }: { readonly block: unknown }): JSX.Element {
  const { type, text, mimeType } = (block ?? {}) as { type?: unknown; text?: unknown; mimeType?: unknown };
  if (type === 'text') return <Bounded class="said-text" text={text} />;
  return <div class="said-text">{`(${plain(type)}, ${plain(mimeType)})`}</div>;
}

const BODIES: Readonly<Record<string, (props: BodyProps) => JSX.Element>> = {
  approval: Approval,
  elicitation: Elicitation,
  sampling: Sampling,
};
