/** The detail of one server: state with reason and next step, actions, statistics and configuration. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath, type Method } from '../api.ts';
import type { Fault, ServerOrigin, ServerReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { statusOf } from '../states.ts';
import { count, duration } from '../text.ts';
import { Callout, CopyButton, Facts, Pill } from '../ui/bits.tsx';
import { Button, ConfirmButton } from '../ui/button.tsx';
import { Bars, Share } from '../ui/charts.tsx';
import { PlaceLink } from '../ui/place-link.tsx';
import { HeldDefinitions } from './held-definitions.tsx';
import { ServerAbout } from './server-about.tsx';
import { ServerEntry } from './server-entry.tsx';
import { ServerIcon } from './server-icon.tsx';
import { ServerLog } from './server-log.tsx';
import { beginLogin, ServerLogin } from './server-login.tsx';
import { ServerPrompts } from './server-prompts.tsx';
import { ServerRemove } from './server-remove.tsx';
import { ServerResources } from './server-resources.tsx';
import { ServerTools } from './server-tools.tsx';
import { ServerTrust } from './server-trust.tsx';

const NEEDS_LOGIN: ReadonlySet<string> = new Set(['needs_auth', 'needs_client_registration']);
/** States in which a server cannot be connected. */
const NOT_STARTABLE: ReadonlySet<string> = new Set(['blocked', 'untrusted', 'disabled']);
const TABS = [
  ['', 'Overview'],
  ['tools', 'Tools'],
  ['resources', 'Resources'],
  ['prompts', 'Prompts'],
  ['log', 'Log'],
  ['configuration', 'Configuration'],
] as const;

type Act = (method: Method, path: string, body?: unknown) => Promise<void>;

export function ServerDetail({ name }: { readonly name: string }): JSX.Element | null {
  const { api, store, notices, router } = useApp();
  const report = store.servers.value.find((server) => server.name === name);
  const origin = useSignal<ServerOrigin | undefined>(undefined);
  const describe = async (): Promise<void> => {
    origin.value = await api.get<ServerOrigin>(apiPath('servers', name)).catch(() => origin.value);
  };
  const { status, tools, quarantined } = report ?? {};
  const version = store.serversVersion.value;
  useEffect(() => void describe(), [name, status, tools, quarantined?.length, version]);
  if (report === undefined) return null;
  const act: Act = async (method, path, body) => {
    try {
      await api.send(method, `${apiPath('servers', name)}${path}`, body);
    } catch (error) {
      notices.showError(error);
    }
    // The shown data may be outdated, also after a failure.
    await store.reloadAfterAction().catch((error) => notices.showError(error));
    await describe();
  };
  const known = origin.value?.name === name ? origin.value : undefined;
  const [, place, part = ''] = router.place.value;
  const tab = place === name && TABS.some(([each]) => each === part) ? part : '';
  const reload = async (): Promise<void> => {
    await store.reloadAfterAction().catch((error) => notices.showError(error));
    await describe();
  };
  return (
    <article class="server-detail">
      <Head report={report} origin={known} act={act} />
      <nav class="tab-line" aria-label="Parts of the server">
        {TABS.map(([each, label]) => (
          <PlaceLink
            key={each}
            to={each === '' ? ['servers', name] : ['servers', name, each]}
            current={each === tab ? 'page' : false}
          >
            {label}
          </PlaceLink>
        ))}
      </nav>
      {tab === '' && (
        <>
          <Reason report={report} />
          <HeldDefinitions name={name} version={`${status} ${tools} ${report.held}`} />
          {(status === 'untrusted' || report.waiting !== undefined || known?.unapproved !== undefined) && (
            <ServerTrust name={name} version={version} onDone={reload} />
          )}
          <ServerLogin server={name} />
          <Charts name={name} />
          <section>
            <h3>Connection</h3>
            <Facts rows={factsOf(report, known)} />
          </section>
          <ServerAbout name={name} version={`${status} ${report.protocolVersion}`} />
        </>
      )}
      {tab === 'resources' && <ServerResources name={name} version={`${status}`} />}
      {tab === 'prompts' && <ServerPrompts name={name} version={`${status}`} />}
      {tab === 'log' && <ServerLog name={name} />}
      {tab === 'tools' && <ServerTools name={name} version={`${status} ${tools}`} />}
      {tab === 'configuration' && known !== undefined && <ServerEntry origin={known} onSaved={reload} />}
    </article>
  );
}

interface HeadProps {
  readonly report: ServerReport;
  readonly origin: ServerOrigin | undefined;
  readonly act: Act;
}

function Head({ report, origin, act }: HeadProps): JSX.Element {
  const app = useApp();
  const { name, status, title } = report;
  const isUp = status === 'connected' || status === 'connecting';
  const needsLogin = NEEDS_LOGIN.has(status);
  const hasLogin = origin?.credentials === 'keyring' || origin?.credentials === 'file';
  const isConfigured = (origin?.places ?? []).some(({ file }) => file !== undefined);
  return (
    <div class="detail-head">
      <div class="detail-title">
        <ServerIcon server={report} />
        <h2>{name}</h2>
        <Pill state={statusOf(status)} />
        {title !== undefined && title !== name && <span class="hint">{title}</span>}
      </div>
      <div class="actions">
        {isUp && <Button onPress={() => act('POST', '/reconnect')}>Restart</Button>}
        {isUp && <Button onPress={() => act('POST', '/disconnect')}>Disconnect</Button>}
        {!isUp && !NOT_STARTABLE.has(status) && (
          <Button kind={needsLogin ? '' : 'primary'} onPress={() => act('POST', '/connect')}>
            {status === 'failed' ? 'Try again' : 'Connect'}
          </Button>
        )}
        {needsLogin && (
          <Button kind="primary" onPress={() => beginLogin(app, name)}>
            Log in
          </Button>
        )}
        {hasLogin && (
          <ConfirmButton
            label="Log out"
            confirmLabel="Confirm log out"
            onConfirm={() => act('DELETE', '/auth')}
          />
        )}
        {status === 'disabled' ? (
          <Button kind="primary" onPress={() => act('POST', '/enable', {})}>
            Enable
          </Button>
        ) : (
          isConfigured && (
            <Button kind="quiet" onPress={() => act('POST', '/disable', {})}>
              Disable
            </Button>
          )
        )}
        <ServerRemove report={report} places={origin?.places ?? []} />
      </div>
    </div>
  );
}

function Reason({ report }: { readonly report: ServerReport }): JSX.Element {
  const { error, status, waiting, quarantined = [], next, disabledBy } = report;
  const hint =
    status === 'needs_auth' ? 'Click Log in, then log in with your browser.' : (next?.message ?? error?.hint);
  return (
    <>
      {error !== undefined && (
        <Callout kind={statusOf(status).tone === 'bad' ? 'bad' : 'warn'}>
          <p>{error.message}</p>
          {hint !== undefined && <p class="hint">{hint}</p>}
          <Stderr error={error} />
        </Callout>
      )}
      {disabledBy !== undefined && (
        <Callout hint={disabledBy.file}>{`Disabled by ${disabledBy.by}.`}</Callout>
      )}
      {waiting !== undefined && (
        <Callout kind="warn" hint={waiting.error.hint}>
          {waiting.error.message}
        </Callout>
      )}
      {quarantined.map(({ tool, reason }) => (
        <Callout key={tool} kind="warn">
          {`The tool ${tool} is left out: ${reason}`}
        </Callout>
      ))}
    </>
  );
}

function Stderr({ error }: { readonly error: Fault }): JSX.Element | null {
  const { stderr } = error;
  if (stderr === undefined) return null;
  return (
    <details>
      <summary>Its stderr</summary>
      <pre class="text" tabIndex={0}>
        {stderr}
      </pre>
      <CopyButton text={stderr} />
    </details>
  );
}

function Charts({ name }: { readonly name: string }): JSX.Element | null {
  const { store } = useApp();
  const stats = store.stats.value.get(name);
  const tokens = stats?.definitionTokens ?? 0;
  if (stats === undefined || (stats.calls === 0 && tokens === 0)) return null;
  const { all } = store.definitionTokens.value;
  const speed =
    stats.p50 === undefined ? 'No calls yet.' : `p50 ${duration(stats.p50)} · p95 ${duration(stats.p95)}`;
  const failures = stats.failed > 0 ? ` · ${count(stats.failed)} of ${count(stats.calls)} failed` : '';
  return (
    <section>
      <h3>Speed and cost</h3>
      <div class="charts">
        <figure>
          <figcaption>
            <span>Latency of the last calls</span>
            <span>{speed + failures}</span>
          </figcaption>
          <Bars values={stats.recent} width={480} height={56} label={speed} />
        </figure>
        <figure>
          <figcaption>
            <span>Cost of its definitions</span>
            <span>
              {all === 0 ? '–' : `${count(tokens)} tokens · ${Math.round((tokens / all) * 100)} % of all`}
            </span>
          </figcaption>
          <Share part={tokens} whole={all} width={480} label={`${tokens} of ${all} tokens`} />
        </figure>
      </div>
    </section>
  );
}

function factsOf(
  report: ServerReport,
  origin: ServerOrigin | undefined,
): readonly (readonly [string, string | undefined])[] {
  const { transport, scope, protocolVersion, era, connectMs, pid, tools } = report;
  return [
    ['Transport', transport],
    ['Scope', scope],
    ['Protocol', protocolVersion === undefined ? undefined : `${protocolVersion} (${era})`],
    ['Connected in', connectMs === undefined ? undefined : duration(connectMs)],
    ['Process', pid === undefined ? undefined : String(pid)],
    ['Tools', String(tools)],
    ['Credentials', origin?.credentials],
  ];
}
