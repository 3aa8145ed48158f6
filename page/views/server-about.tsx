/** What a server states about itself: version, instructions, capabilities, and how long its start took. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { Json } from '../api-types.ts';
import { useApp } from '../app.ts';
import { count, duration, plain } from '../text.ts';
import { Facts } from '../ui/bits.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { LinkLook } from '../ui/link-look.tsx';
import { Markdown } from '../ui/markdown.tsx';

interface Details {
  readonly serverInfo?: {
    readonly name?: string;
    readonly version?: string;
    readonly title?: string;
    readonly websiteUrl?: string;
  };
  readonly instructions?: string;
  readonly holdsInstructions?: boolean;
  readonly capabilities?: Json;
  readonly phases?: readonly { readonly name: string; readonly ms: number }[];
  readonly instructionTokens?: number;
}

export function ServerAbout({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): JSX.Element | null {
  const { api } = useApp();
  const details = useSignal<Details | undefined>(undefined);
  useEffect(() => {
    api.get<Details>(apiPath('servers', name, 'details')).then(
      (answer) => {
        details.value = answer;
      },
      () => {
        details.value = undefined;
      },
    );
  }, [name, version]);
  if (details.value === undefined) return null;
  const { serverInfo = {}, instructions, holdsInstructions, capabilities = {}, phases = [] } = details.value;
  const { title, websiteUrl } = serverInfo;
  const names = Object.keys(capabilities);
  if (serverInfo.name === undefined && instructions === undefined && names.length === 0) return null;
  return (
    <section>
      <h3>About</h3>
      <Facts
        rows={[
          ['Program', [title ?? serverInfo.name, serverInfo.version].filter(Boolean).join(' ')],
          [
            'Website',
            websiteUrl === undefined ? undefined : (
              <LinkLook key="site" url={websiteUrl}>
                {plain(websiteUrl)}
              </LinkLook>
            ),
          ],
          ['Can do', names.join(', ')],
          ['Start', phases.map((phase) => `${phase.name} ${duration(phase.ms)}`).join(', ')],
        ]}
      />
      {holdsInstructions === true && (
        <p class="hint">Its instructions changed and are on hold until you accept them.</p>
      )}
      {instructions !== undefined && instructions !== '' && (
        <figure class="said instructions">
          <figcaption>{`Instructions for models · ${count(details.value.instructionTokens ?? 0)} tokens`}</figcaption>
          <Markdown class="said-text" text={instructions} />
        </figure>
      )}
      {names.length > 0 && (
        <details>
          <summary>Capabilities</summary>
          <JsonTree value={capabilities} open />
        </details>
      )}
    </section>
  );
}
