/** The prompts of one server, to look through and try. */

import { useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { ContentBlock } from '../api-types.ts';
import { useApp } from '../app.ts';
import { isObject } from '../form/json-schema.ts';
import { plain, plural } from '../text.ts';
import { CopyButton, ErrorCallout } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ContentView } from '../ui/result.tsx';
import { type Argument, ArgumentFields, type ArgumentValues, missingIn } from './argument-fields.tsx';

interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly Argument[];
}

interface PromptResult {
  readonly description?: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

export function ServerPrompts({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): JSX.Element {
  const { api } = useApp();
  const prompts = useSignal<readonly Prompt[] | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    api.get<{ prompts: readonly Prompt[] }>(apiPath('servers', name, 'prompts')).then(
      (answer) => {
        prompts.value = answer.prompts;
      },
      (failure) => {
        error.value = failure;
      },
    );
  }, [name, version]);
  return (
    <section>
      <h3>{prompts.value === undefined ? 'Loading …' : plural(prompts.value.length, 'prompt')}</h3>
      <ErrorCallout error={error.value} />
      {(prompts.value ?? []).map((prompt, at) => (
        <PromptCard key={prompt.name} id={`prompt-${at}`} server={name} prompt={prompt} />
      ))}
    </section>
  );
}

interface PromptCardProps {
  readonly id: string;
  readonly server: string;
  readonly prompt: Prompt;
}

function PromptCard({ id, server, prompt }: PromptCardProps): JSX.Element {
  const { api, drafts } = useApp();
  const { arguments: args = [] } = prompt;
  const result = useSignal<PromptResult | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const draft = `prompt:${server}:${prompt.name}`;
  const values = useSignal<ArgumentValues>(textsIn(drafts.load(draft)));
  const missing = useSignal<ReadonlySet<string>>(new Set());
  // At once, so that a reload right after a key loses nothing.
  useSignalEffect(() => {
    if (Object.keys(values.value).length > 0) drafts.save(draft, values.value);
  });
  const get = async (): Promise<void> => {
    error.value = undefined;
    missing.value = missingIn(id, args, values.value);
    if (missing.value.size > 0) return;
    try {
      const path = apiPath('servers', server, 'prompts', 'get');
      const given = Object.fromEntries(Object.entries(values.value).filter(([, value]) => value !== ''));
      result.value = await api.send<PromptResult>('POST', path, { name: prompt.name, arguments: given });
    } catch (failure) {
      error.value = failure;
    }
  };
  return (
    <div class="card prompt">
      <strong>{prompt.title ?? prompt.name}</strong>
      {prompt.description !== undefined && <Markdown class="hint" text={prompt.description} />}
      <ArgumentFields
        id={id}
        server={server}
        of={{ prompt: prompt.name }}
        args={args}
        values={values}
        missing={missing.value}
      />
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
      <div class="actions">
        <Button onPress={get}>Get the prompt</Button>
        {result.value !== undefined && <CopyButton kind="" text={() => textOfPrompt(result.value)} />}
      </div>
      {result.value !== undefined && (
        <div class="result" aria-live="polite">
          {result.value.messages.map(({ role, content }, at) => (
            <div key={at}>
              <p class="caption role">{plain(role)}</p>
              {[content].flat().map((block, index) => (
                <ContentView key={index} block={block as ContentBlock} name={`${prompt.name}-${at}`} />
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

/** Reads a draft; one of another form is dropped. */
function textsIn(draft: unknown): ArgumentValues {
  const isTexts = isObject(draft) && Object.values(draft).every((value) => typeof value === 'string');
  return isTexts ? (draft as ArgumentValues) : {};
}

function textOfPrompt(result: PromptResult | undefined): string {
  return (result?.messages ?? [])
    .flatMap(({ content }) => [content].flat())
    .map((block) => plain((block as ContentBlock).text ?? block))
    .join('\n\n');
}
