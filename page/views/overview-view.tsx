/** The overview: everything that needs a person, the agents and calls of this moment, and all servers at a glance. */

import type { ComponentChildren, JSX } from 'preact';
import type { CallReport, Question, ServerReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { keyOf } from '../call-log.ts';
import { callStateOf, madeBy, progressOf } from '../call-state.ts';
import { GROUP_LABELS, GROUPS, groupOf, statusOf } from '../states.ts';
import type { Store } from '../store.ts';
import { clockTime, duration, folderName, plural } from '../text.ts';
import { Dot } from '../ui/bits.tsx';
import { moveInRows } from '../ui/panes.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { AgentLines } from './agent-lines.tsx';
import { CostCard } from './cost-card.tsx';
import { ServerIcon } from './server-icon.tsx';
import { Figures } from './servers-view.tsx';
import { Welcome } from './welcome.tsx';

const MAX_LINES = 6;
const MAX_CALLS = 9;

export function OverviewView(): JSX.Element {
  const { store } = useApp();
  return (
    <div class="plain overview">
      <div class="head">
        <div class="head-line">
          <h1>Overview</h1>
        </div>
        <Figures store={store} />
      </div>
      <div class="overview-grid">
        {isFirstRun(store) && <Welcome />}
        <NeedsYou />
        <Agents />
        <CallsNow />
        <AllServers />
        {store.servers.value.length > 0 && <CostCard />}
      </div>
    </div>
  );
}

/** True if only servers of Plugboard itself are there. */
function isFirstRun({ loaded, servers }: Store): boolean {
  return loaded.value && servers.value.every(({ scope }) => scope === 'code');
}

function Card(props: {
  readonly title: string;
  readonly shape?: 'wide';
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class={`card ${props.shape ?? ''}`}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function NeedsYou(): JSX.Element {
  const { store } = useApp();
  const questions = store.questions.value;
  const servers = store.servers.value.filter((server) => groupOf(server) === 'needs');
  const problems = store.problems.value;
  const isCalm = questions.length + servers.length + problems.length === 0;
  return (
    <Card title="Needs you" shape="wide">
      {isCalm && <p class="calm-line">{store.loaded.value ? '✓ Nothing waits for you.' : 'Loading …'}</p>}
      <ul class="lines columns">
        {questions.slice(0, MAX_LINES).map((question) => (
          <li key={question.id}>
            <PlaceLink class="line urgent-line" to={['questions']}>
              <Dot tone={question.destructive === true ? 'bad' : 'warn'} />
              <strong>{questionText(question)}</strong>
              <span title={question.folder}>{askerText(question)}</span>
              <span class="line-end">Decide ›</span>
            </PlaceLink>
          </li>
        ))}
        {questions.length > MAX_LINES && (
          <li>
            <PlaceLink
              class="line"
              to={['questions']}
            >{`${questions.length - MAX_LINES} more questions`}</PlaceLink>
          </li>
        )}
        {servers.slice(0, MAX_LINES).map((server) => (
          <li key={server.name}>
            <PlaceLink class="line" to={['servers', server.name]}>
              <Dot tone={statusOf(server.status).tone} />
              <strong>{server.name}</strong>
              <span>{serverReason(server)}</span>
            </PlaceLink>
          </li>
        ))}
        {problems.slice(0, MAX_LINES).map(({ file, line, message }) => (
          <li key={`${file}:${line}:${message}`}>
            <PlaceLink class="line" to={['servers']}>
              <Dot tone="warn" />
              <strong>{message}</strong>
              <span>{line === undefined ? file : `${file}:${line}`}</span>
            </PlaceLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function questionText({ kind, tool, server }: Question): string {
  return kind === 'approval' ? `Allow ${tool} of ${server}?` : `${server} asks a question`;
}

function askerText(question: Question): string {
  const { folder } = question;
  return [madeBy(question), folder === undefined ? undefined : folderName(folder)]
    .filter((part) => part !== undefined)
    .join(' · ');
}

function serverReason({ status, next, error, held = 0 }: ServerReport): string {
  if (held > 0) return `${plural(held, 'definition')} on hold`;
  return next?.message ?? error?.message ?? statusOf(status).label;
}

function Agents(): JSX.Element {
  const { store } = useApp();
  const connected = store.connectedClients.value;
  return (
    <Card title="Agents" shape="wide">
      {connected.length === 0 && (
        <p class="none">
          {store.clientsLoaded.value ? 'No agent is connected. ' : 'Loading …'}
          {store.clientsLoaded.value && <PlaceLink to={['clients']}>Connect one</PlaceLink>}
        </p>
      )}
      <AgentLines clients={connected.slice(0, MAX_LINES)} />
      {connected.length > MAX_LINES && (
        <PlaceLink class="line" to={['clients']}>{`${connected.length - MAX_LINES} more`}</PlaceLink>
      )}
    </Card>
  );
}

function CallsNow(): JSX.Element {
  const { store } = useApp();
  void store.calls.version.value;
  const all = store.calls.all;
  const running = all.filter(({ outcome }) => outcome === undefined).slice(-MAX_CALLS);
  const ended: CallReport[] = [];
  for (let at = all.length - 1; at >= 0 && ended.length < MAX_CALLS - running.length; at -= 1) {
    const call = all[at];
    if (call?.outcome !== undefined) ended.push(call);
  }
  return (
    <Card title={running.length === 0 ? 'Last calls' : 'Calls now'}>
      {all.length === 0 && <p class="none">No calls yet.</p>}
      <ul class="lines">
        {[...running.reverse(), ...ended].map((call) => (
          <li key={keyOf(call)}>
            <PlaceLink class="line" to={['calls', keyOf(call)]}>
              <Dot tone={callStateOf(store, call).tone} />
              <strong>{call.tool}</strong>
              <span>{[call.server, madeBy(call)].filter(Boolean).join(' · ')}</span>
              <span class="line-end">
                {call.ms === undefined
                  ? progressOf(call) || callStateOf(store, call).label
                  : `${duration(call.ms)}, ${clockTime(call.at)}`}
              </span>
            </PlaceLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function AllServers(): JSX.Element {
  const { store } = useApp();
  const servers = store.servers.value;
  const sorted = GROUPS.flatMap((group) => servers.filter((server) => groupOf(server) === group));
  return (
    <Card title="Servers">
      {servers.length === 0 && (
        <div class="welcome">
          <p>{store.loaded.value ? 'No server is configured yet.' : 'Loading …'}</p>
        </div>
      )}
      <ul class="tiles" onKeyDown={(event) => moveInRows(event, '.tile')}>
        {sorted.map((server, at) => {
          const { tone, label } = statusOf(server.status);
          return (
            <li key={server.name}>
              <PlaceLink
                class="tile"
                to={['servers', server.name]}
                server={server.name}
                tabIndex={at === 0 ? 0 : -1}
                title={GROUP_LABELS[groupOf(server)]}
              >
                <ServerIcon server={server} />
                <strong>{server.name}</strong>
                <span class="server-word" data-tone={tone}>
                  <Dot tone={tone} />
                  {label}
                </span>
              </PlaceLink>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
