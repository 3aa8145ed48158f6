/** The prompts of one server, to look through and try. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { apiPath } from '../api.ts';
import type { ContentBlock } from '../api-types.ts';
import { useApp } from '../app.ts';
import { FormState } from '../form/form-state.ts';
import { SchemaForm } from '../form/schema-form.tsx';
import { plain, plural } from '../text.ts';
import { CopyButton, ErrorCallout } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ContentView } from '../ui/result.tsx';

interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly {
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
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
  const result = useSignal<PromptResult | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const draft = `prompt:${server}:${prompt.name}`;
  const form = useMemo(
    () =>
      new FormState(schemaOf(prompt), {
        id,
        draft: drafts.load(draft),
        onChange: (next) => drafts.save(draft, next),
      }),
    [JSON.stringify(prompt)],
  );
  const get = async (): Promise<void> => {
    const { value, problems } = form.check();
    error.value = undefined;
    if (problems.length > 0) return;
    try {
      const path = apiPath('servers', server, 'prompts', 'get');
      result.value = await api.send<PromptResult>('POST', path, { name: prompt.name, arguments: value });
    } catch (failure) {
      error.value = failure;
    }
  };
  return (
    <div class="card prompt">
      <strong>{prompt.title ?? prompt.name}</strong>
      {prompt.description !== undefined && <Markdown class="hint" text={prompt.description} />}
      {(prompt.arguments ?? []).length > 0 && <SchemaForm form={form} />}
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

/** Arguments of prompts are texts. */
function schemaOf({ arguments: args = [] }: Prompt): object {
  return {
    type: 'object',
    properties: Object.fromEntries(
      args.map(({ name, title, description }) => [name, { type: 'string', title, description }]),
    ),
    required: args.filter(({ required }) => required === true).map(({ name }) => name),
  };
}

function textOfPrompt(result: PromptResult | undefined): string {
  return (result?.messages ?? [])
    .flatMap(({ content }) => [content].flat())
    .map((block) => plain((block as ContentBlock).text ?? block))
    .join('\n\n');
}
