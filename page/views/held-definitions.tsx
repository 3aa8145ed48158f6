/** Definitions of a server that are on hold, with their differences; accepting sends the digest of what is shown. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { cut, plain } from '../text.ts';
import { Button } from '../ui/button.tsx';

const MAX_NAME_CHARS = 200;

interface Held {
  readonly tool: string;
  readonly kind?: string;
  readonly diff: string;
}

interface HeldAnswer {
  readonly held: readonly Held[];
  readonly digest?: string;
}

export interface HeldDefinitionsProps {
  readonly name: string;
  /** Changes when the definitions have to be read again. */
  readonly version: string;
}

export function HeldDefinitions({ name, version }: HeldDefinitionsProps): JSX.Element | null {
  const { api, store, notices } = useApp();
  const answer = useSignal<HeldAnswer>({ held: [] });
  const path = apiPath('servers', name, 'pins');
  const load = async (): Promise<void> => {
    answer.value = await api.get<HeldAnswer>(path).catch(() => ({ held: [] }));
  };
  useEffect(() => void load(), [name, version]);
  const { held, digest } = answer.value;
  if (held.length === 0) return null;
  const accept = async (): Promise<void> => {
    try {
      await api.send('POST', path, { digest });
      await store.loadServers();
    } catch (error) {
      notices.showError(error);
    }
    await load();
  };
  return (
    <section class="held">
      <h3>New or changed since it was first seen</h3>
      <p class="hint">On hold: models do not see it, and it cannot be called until you accept it.</p>
      {held.map((each) => (
        <Difference key={`${each.kind} ${each.tool}`} held={each} />
      ))}
      <div class="actions">
        <Button kind="primary" onPress={accept}>
          Accept as shown
        </Button>
      </div>
    </section>
  );
}

function Difference({ held }: { readonly held: Held }): JSX.Element {
  const { tool, kind, diff } = held;
  return (
    <figure class="said">
      <figcaption>
        {kind !== undefined && !tool.startsWith('(') && `${kind} `}
        <code>{cut(plain(tool), MAX_NAME_CHARS)}</code>
      </figcaption>
      <div class="diff" tabIndex={0} role="group" aria-label="Difference">
        {plain(diff)
          .split('\n')
          .map((line, at) => (
            <div key={at} class={line.startsWith('+ ') ? 'come' : line.startsWith('- ') ? 'gone' : ''}>
              {line}
            </div>
          ))}
      </div>
    </figure>
  );
}
