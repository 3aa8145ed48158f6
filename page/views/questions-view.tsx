/** The questions view: a card for each approval, elicitation and sampling request that waits for a person. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Question } from '../api-types.ts';
import { useApp } from '../app.ts';
import { plural } from '../text.ts';
import { Button } from '../ui/button.tsx';
import { QuestionCard, sendAnswer } from './question-card.tsx';

const SETTLE_MS = 600;
/** Limits cards per server, so that one server cannot crowd out others; approvals come from Plugboard itself. */
const MAX_CARDS_PER_SERVER = 3;
const MAX_APPROVALS_PER_SERVER = 20;

export function QuestionsView(): JSX.Element {
  const { store } = useApp();
  const shownBefore = useRef<ReadonlySet<string>>(new Set());
  const { shown, waiting } = selectQuestions(store.questions.value, shownBefore.current);
  const isSettling = useSettling(shown);
  shownBefore.current = new Set(shown.map(({ id }) => id));
  const approvals = shown.filter(({ kind }) => kind === 'approval');
  const others = shown.filter(({ kind }) => kind !== 'approval');
  return (
    <div class={`plain${isSettling ? ' settling' : ''}`}>
      <div class="head">
        <div class="head-line">
          <h1>Questions</h1>
        </div>
      </div>
      {shown.length === 0 && (
        <div class="welcome" tabIndex={-1} data-focus="view">
          <p>No open questions.</p>
          <p class="hint">Calls that need approval, and questions of servers, appear here.</p>
        </div>
      )}
      {/* Approvals come first, so that a server's question cannot be placed above them. */}
      <Cards label="Approvals" questions={approvals} />
      <Cards label="Questions of servers" questions={others} />
      <div class="questions-more">
        {[...waiting].map(([server, questions]) => (
          <Overflow key={server} server={server} questions={questions} />
        ))}
      </div>
    </div>
  );
}

function Cards({
  label,
  questions,
}: {
  readonly label: string;
  readonly questions: readonly Question[];
}): JSX.Element {
  return (
    <div class="questions" role="list" aria-label={label}>
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
    </div>
  );
}

/** True briefly after cards moved: a second click may be meant for the previous card. */
function useSettling(shown: readonly Question[]): boolean {
  const ids = shown.map(({ id }) => id);
  const before = useRef<readonly string[]>(ids);
  const [movedAt, setMovedAt] = useState(0);
  const isRemoval = before.current.some((id) => !ids.includes(id));
  // An approval that comes in moves the questions of servers down.
  const isInsertion =
    shown.some(({ id, kind }) => kind === 'approval' && !before.current.includes(id)) &&
    shown.some(({ kind }) => kind !== 'approval');
  useEffect(() => {
    before.current = ids;
    if (isRemoval || isInsertion) setMovedAt(performance.now());
  }, [ids.join()]);
  useEffect(() => {
    if (movedAt === 0) return undefined;
    const timer = setTimeout(() => setMovedAt(0), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [movedAt]);
  return movedAt !== 0 || isRemoval || isInsertion;
}

interface Selection {
  readonly shown: readonly Question[];
  /** Server → its questions that have no card yet. */
  readonly waiting: ReadonlyMap<string, readonly Question[]>;
}

/** Selects the questions to show, preferring those that already have a card; groups the rest by server. */
function selectQuestions(questions: readonly Question[], cards: ReadonlySet<string>): Selection {
  const selected = new Set<string>();
  const waiting = new Map<string, Question[]>();
  const counts = new Map<string, number>();
  for (const question of questions.toSorted((a, b) => Number(cards.has(b.id)) - Number(cards.has(a.id)))) {
    const { id, kind, server } = question;
    const key = JSON.stringify([kind === 'approval', server]);
    const count = counts.get(key) ?? 0;
    if (count < (kind === 'approval' ? MAX_APPROVALS_PER_SERVER : MAX_CARDS_PER_SERVER)) {
      counts.set(key, count + 1);
      selected.add(id);
    } else waiting.set(server, [...(waiting.get(server) ?? []), question]);
  }
  return { shown: questions.filter(({ id }) => selected.has(id)), waiting };
}

function Overflow({
  server,
  questions,
}: {
  readonly server: string;
  readonly questions: readonly Question[];
}): JSX.Element {
  const app = useApp();
  const declineAll = async (): Promise<void> => {
    for (const { id, kind } of questions)
      await sendAnswer(app, id, { answer: kind === 'approval' ? 'deny' : 'decline' }).catch(() => {});
    await app.store.loadQuestions().catch((error) => app.notices.showError(error));
  };
  return (
    <div class="callout">
      <p>
        {`${plural(questions.length, 'more question')} of `}
        <strong>{server}</strong>, shown as these are answered.
      </p>
      <div class="actions">
        <Button kind="quiet" onPress={declineAll}>
          Decline them
        </Button>
      </div>
    </div>
  );
}
