/** What an approval of a server covers: its whole entry, its command line and its files; approving sends its digest. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { revealed } from '../text.ts';
import { CopyButton, Facts } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

interface Trust {
  readonly state: string;
  readonly needed: boolean;
  readonly from?: string;
  readonly shown: string;
  readonly commandLine?: string;
  readonly url?: string;
  readonly folder?: string;
  readonly file?: string;
  readonly env?: readonly string[];
  readonly replaces?: unknown;
  readonly changes: readonly {
    readonly path: unknown;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly terms?: string;
  readonly digest: string;
}

export interface ServerTrustProps {
  readonly name: string;
  /** Changes when the entry has to be read again. */
  readonly version: number;
  readonly onDone: () => Promise<void>;
}

export function ServerTrust({ name, version, onDone }: ServerTrustProps): JSX.Element | null {
  const { api, notices } = useApp();
  const trust = useSignal<Trust | undefined>(undefined);
  const path = apiPath('servers', name, 'trust');
  useEffect(() => {
    api.get<Trust>(path).then(
      (answer) => {
        trust.value = answer;
      },
      () => {
        trust.value = undefined;
      },
    );
  }, [path, version]);
  const known = trust.value;
  if (known === undefined) return null;
  const approve = async (): Promise<void> => {
    await api.send('POST', path, { digest: known.digest }).catch((error) => notices.showError(error));
    await onDone();
  };
  return (
    <section class="callout warn approval">
      <p>
        <strong>
          {known.state === 'changed'
            ? 'This entry changed since you approved it.'
            : 'This server is not approved yet.'}
        </strong>{' '}
        Approve it only if you know who added it. It would run with your rights:
      </p>
      {known.commandLine !== undefined && (
        <div class="command-line">
          <code>{revealed(known.commandLine)}</code>
          <CopyButton text={known.commandLine} />
        </div>
      )}
      <Facts
        rows={[
          ['Address', known.url],
          ['Folder', known.folder],
          ['Defined in', known.file],
          ['Environment', known.env?.join(', ')],
        ]}
      />
      {known.changes.length > 0 && <Changes changes={known.changes} />}
      <p class="hint">Its whole entry:</p>
      <pre class="text" tabIndex={0}>
        {known.shown}
      </pre>
      {known.files.length > 0 && (
        <details>
          <summary>{`Files that it runs (${known.files.length})`}</summary>
          {known.files.map(({ path: file, sha256 }) => (
            <p key={file} class="hint">
              <code>{file}</code> <code>{sha256}</code>
            </p>
          ))}
        </details>
      )}
      {known.terms !== undefined && <p class="hint">{known.terms}</p>}
      <div class="actions">
        <Button kind="primary" onPress={approve}>
          Approve and start
        </Button>
      </div>
    </section>
  );
}

function Changes({ changes }: { readonly changes: Trust['changes'] }): JSX.Element {
  return (
    <div class="diff" tabIndex={0} role="group" aria-label="Changes">
      {changes.map(({ path, before, after }, at) => (
        <div key={at}>
          <div>{[path].flat().map(revealed).join(' › ')}</div>
          {before !== undefined && <div class="gone">{`- ${revealed(before)}`}</div>}
          {after !== undefined && <div class="come">{`+ ${revealed(after)}`}</div>}
        </div>
      ))}
    </div>
  );
}
