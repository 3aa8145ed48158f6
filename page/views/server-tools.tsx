/** The tools of one server: switches, the decision about their calls, and the tokens that their definitions cost. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { count, oneLine, plural } from '../text.ts';
import { Tag } from '../ui/bits.tsx';
import { PlaceLink } from '../ui/place-link.tsx';

interface InspectedTool {
  readonly name: string;
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly state: string;
  readonly destructive: boolean;
  readonly approval: { readonly decision: string; readonly reason: string; readonly rule?: string };
  readonly definitionTokens: number;
}

const DECISIONS: Readonly<Record<string, readonly [label: string, tone: 'good' | 'warn' | 'bad']>> = {
  allow: ['allowed', 'good'],
  ask: ['asks you', 'warn'],
  deny: ['denied', 'bad'],
};

export function ServerTools({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): JSX.Element {
  const { api, store, notices } = useApp();
  const tools = useSignal<readonly InspectedTool[] | undefined>(undefined);
  const path = apiPath('servers', name, 'tools');
  const show = (work: Promise<{ tools: readonly InspectedTool[] }>): Promise<void> =>
    work.then(
      (answer) => {
        tools.value = answer.tools;
      },
      (error) => notices.showError(error),
    );
  useEffect(() => void show(api.get(path)), [path, version, store.configVersion.value]);
  const toggle = async (tool: InspectedTool, enabled: boolean): Promise<void> => {
    await show(api.send('POST', path, { tool: tool.tool, enabled }));
    await store.reloadAfterAction().catch((error) => notices.showError(error));
  };
  const all = tools.value ?? [];
  const on = all.filter(({ state }) => state === 'on').length;
  return (
    <section>
      <h3>{tools.value === undefined ? 'Loading …' : `${on} of ${plural(all.length, 'tool')} on`}</h3>
      <ul class="tool-switches">
        {all.map((tool) => (
          <ToolSwitch
            key={tool.name}
            server={name}
            tool={tool}
            onToggle={(enabled) => toggle(tool, enabled)}
          />
        ))}
      </ul>
      {tools.value !== undefined && all.length === 0 && (
        <p class="none">It offers no tools, or is not connected.</p>
      )}
    </section>
  );
}

interface ToolSwitchProps {
  readonly server: string;
  readonly tool: InspectedTool;
  readonly onToggle: (enabled: boolean) => Promise<void>;
}

function ToolSwitch({ server, tool, onToggle }: ToolSwitchProps): JSX.Element {
  const isWorking = useSignal(false);
  const [label, tone] = DECISIONS[tool.approval.decision] ?? [tool.approval.decision, 'warn'];
  return (
    <li class="tool-switch">
      <input
        type="checkbox"
        role="switch"
        aria-label={`Offer ${tool.tool} to agents`}
        aria-checked={tool.state === 'on'}
        checked={tool.state === 'on'}
        disabled={isWorking.value || tool.state === 'held'}
        onChange={(event) => {
          isWorking.value = true;
          void onToggle(event.currentTarget.checked).finally(() => {
            isWorking.value = false;
          });
        }}
      />
      <div>
        <PlaceLink to={['tools', server, tool.tool]}>{tool.tool}</PlaceLink>{' '}
        <Tag tone={tone} title={tool.approval.rule ?? tool.approval.reason}>
          {label}
        </Tag>{' '}
        {tool.destructive && <Tag tone="bad">may change things</Tag>}
        {tool.state === 'held' && <Tag tone="warn">on hold</Tag>}
        <p class="hint">{oneLine(tool.description, 160)}</p>
      </div>
      <span class="tool-cost">{`${count(tool.definitionTokens)} tok`}</span>
    </li>
  );
}
