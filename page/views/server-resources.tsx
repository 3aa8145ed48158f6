/** The resources and templates of one server, to look through and read. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiPath } from '../api.ts';
import { useApp } from '../app.ts';
import { oneLine, plural } from '../text.ts';
import { ErrorCallout } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ResourceContent } from '../ui/result.tsx';
import { ArgumentFields, type ArgumentValues } from './argument-fields.tsx';

const MAX_SHOWN = 200;

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

interface Template extends Omit<Resource, 'uri'> {
  readonly uriTemplate: string;
}

interface Content {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export function ServerResources({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): JSX.Element {
  const { api } = useApp();
  const lists = useSignal<{ resources: readonly Resource[]; templates: readonly Template[] } | undefined>(
    undefined,
  );
  const uri = useSignal('');
  const contents = useSignal<readonly Content[] | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    api.get<NonNullable<typeof lists.value>>(apiPath('servers', name, 'resources')).then(
      (answer) => {
        lists.value = answer;
      },
      (failure) => {
        error.value = failure;
      },
    );
  }, [name, version]);
  const read = async (wanted: string): Promise<void> => {
    uri.value = wanted;
    error.value = undefined;
    contents.value = undefined;
    try {
      const path = apiPath('servers', name, 'resources', 'read');
      contents.value = (
        await api.send<{ contents: readonly Content[] }>('POST', path, { uri: wanted })
      ).contents;
    } catch (failure) {
      error.value = failure;
    }
  };
  const { resources = [], templates = [] } = lists.value ?? {};
  return (
    <section>
      <h3>{lists.value === undefined ? 'Loading …' : plural(resources.length, 'resource')}</h3>
      <form
        class="paste"
        onSubmit={(event) => {
          event.preventDefault();
          void read(uri.value);
        }}
      >
        <input
          class="mono"
          type="text"
          aria-label="Address of the resource"
          placeholder="file:///notes/today.md"
          spellcheck={false}
          value={uri.value}
          onInput={(event) => {
            uri.value = event.currentTarget.value;
          }}
        />
        <Button type="submit" kind="primary" disabled={uri.value === ''}>
          Read
        </Button>
      </form>
      <div role="alert">
        <ErrorCallout error={error.value} />
      </div>
      {contents.value !== undefined && (
        <div class="result resource-result" aria-live="polite">
          {contents.value.map((content, at) => (
            <section key={at} class="block">
              <p class="caption">
                <code>{content.uri}</code> {content.mimeType ?? ''}
              </p>
              <ResourceContent content={content} name={`${name}-resource`} />
            </section>
          ))}
          {contents.value.length === 0 && <p class="none">It is empty.</p>}
        </div>
      )}
      <ul class="lines">
        {resources.slice(0, MAX_SHOWN).map((resource) => (
          <li key={resource.uri}>
            <button class="row-button" type="button" onClick={() => void read(resource.uri)}>
              <strong>{resource.title ?? resource.name}</strong>
              <code>{resource.uri}</code>
              {resource.description !== undefined && (
                <span class="hint">{oneLine(resource.description, 200)}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
      {resources.length > MAX_SHOWN && <p class="none">{`${resources.length - MAX_SHOWN} more`}</p>}
      {templates.length > 0 && (
        <>
          <h3 class="later">{plural(templates.length, 'template')}</h3>
          {templates.slice(0, MAX_SHOWN).map((template, at) => (
            <TemplateForm
              key={template.uriTemplate}
              id={`template-${at}`}
              server={name}
              template={template}
              onRead={read}
            />
          ))}
        </>
      )}
    </section>
  );
}

/** Every variable of a template may be empty. */
const NONE_MISSING: ReadonlySet<string> = new Set();

interface TemplateFormProps {
  readonly id: string;
  readonly server: string;
  readonly template: Template;
  readonly onRead: (uri: string) => Promise<void>;
}

/** Fills the variables of a template; simple expressions only, others are typed as a whole address. */
function TemplateForm({ id, server, template, onRead }: TemplateFormProps): JSX.Element {
  const { uriTemplate } = template;
  const names = [...uriTemplate.matchAll(/\{([\w.]+)\}/g)].map(([, each]) => each ?? '');
  const values = useSignal<ArgumentValues>({});
  const uri = uriTemplate.replace(/\{([\w.]+)\}/g, (_, each: string) =>
    encodeURIComponent(values.value[each] ?? ''),
  );
  return (
    <div class="card template">
      <strong>{template.title ?? template.name}</strong>
      <code>{uriTemplate}</code>
      {template.description !== undefined && <p class="hint">{oneLine(template.description, 200)}</p>}
      <ArgumentFields
        id={id}
        server={server}
        of={{ template: uriTemplate }}
        args={names.map((name) => ({ name }))}
        values={values}
        missing={NONE_MISSING}
      />
      <div class="actions">
        <Button onPress={() => onRead(uri)}>Read</Button>
      </div>
    </div>
  );
}
