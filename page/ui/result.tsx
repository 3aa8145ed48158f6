/** Renders the result of a call: text, Markdown, JSON trees, tables, images and audio, to copy and to save. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallResult, ContentBlock } from '../api-types.ts';
import { asText, cut, plain, revealed, size } from '../text.ts';
import { CopyButton, saveFile } from './bits.tsx';
import { Button } from './button.tsx';
import { DataTable, tableIn } from './data-table.tsx';
import { Dialog } from './dialog.tsx';
import { JsonTree } from './json-tree.tsx';
import { LinkLook } from './link-look.tsx';
import { looksLikeMarkdown, Markdown } from './markdown.tsx';
import { Bounded } from './said.tsx';

const MAX_TEXT_CHARS = 60_000;
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const SOUNDS = /^audio\/[\w.+-]{1,40}$/;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const TABS = ['Result', 'Raw'] as const;

export interface ResultViewProps {
  readonly result: CallResult;
  /** Name of saved files, without their extension. */
  readonly name: string;
}

export function ResultView({ result, name }: ResultViewProps): JSX.Element {
  const [tab, setTab] = useState<(typeof TABS)[number]>('Result');
  return (
    <div class="result">
      <div class="result-bar">
        <div class="tabs" role="tablist" aria-label="Form of the result">
          {TABS.map((each) => (
            <button
              key={each}
              class="tab"
              type="button"
              role="tab"
              aria-selected={each === tab}
              onClick={() => setTab(each)}
            >
              {each}
            </button>
          ))}
        </div>
        <div class="tabs">
          <CopyButton kind="tab" text={() => textOfResult(result)} />
          <Button kind="tab" onPress={() => saveResult(result, name)}>
            Save
          </Button>
        </div>
      </div>
      {tab === 'Raw' ? (
        <pre class="raw" tabIndex={0}>
          {cut(revealed(JSON.stringify(result, null, 2)), MAX_TEXT_CHARS)}
        </pre>
      ) : (
        <Blocks result={result} name={name} />
      )}
    </div>
  );
}

/** Returns the text if the result is only text, else the whole result as JSON. */
function textOfResult(result: CallResult): string {
  const { content = [], structuredContent } = result;
  const isText = structuredContent === undefined && content.every(({ type }) => type === 'text');
  return isText ? content.map(({ text }) => asText(text)).join('\n') : JSON.stringify(result, null, 2);
}

function saveResult(result: CallResult, name: string): void {
  const { content = [], structuredContent } = result;
  const isText = structuredContent === undefined && content.every(({ type }) => type === 'text');
  if (isText) saveFile(`${name}.txt`, textOfResult(result), 'text/plain');
  else saveFile(`${name}.json`, JSON.stringify(result, null, 2), 'application/json');
}

function Blocks({ result, name }: ResultViewProps): JSX.Element {
  const { structuredContent, content = [] } = result;
  const blocks = content.filter(
    // Servers repeat structured content as text for older clients.
    ({ type, text }) =>
      structuredContent === undefined || type !== 'text' || !isSameJson(text, structuredContent),
  );
  return (
    <div class="blocks">
      {structuredContent !== undefined && (
        <Block kind="structured">
          <ValueView value={structuredContent} />
        </Block>
      )}
      {blocks.map((block, at) => (
        <ContentView key={at} block={block} name={`${name}-${at + 1}`} />
      ))}
      {structuredContent === undefined && blocks.length === 0 && <p class="none">The result is empty.</p>}
    </div>
  );
}

function Block({
  kind,
  children,
}: {
  readonly kind: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="block" data-kind={kind}>
      {children}
    </section>
  );
}

export interface ContentViewProps {
  readonly block: ContentBlock;
  readonly name: string;
}

/** Renders one block of content, also of a prompt or a resource. */
export function ContentView({ block, name }: ContentViewProps): JSX.Element {
  const { type, text, uri, title, mimeType, description, resource } = block;
  switch (type) {
    case 'text':
      return (
        <Block kind="text">
          <TextView text={asText(text)} />
        </Block>
      );
    case 'image':
    case 'audio':
      return <Media block={block} name={name} />;
    case 'resource_link':
      return (
        <Block kind="link">
          <p class="link-line">
            {asText(title ?? block.name)} <LinkLook url={asText(uri)}>{cut(plain(uri), 300)}</LinkLook>
          </p>
          {description !== undefined && <Bounded as="p" class="caption" text={description} />}
          {mimeType !== undefined && <p class="caption">{asText(mimeType)}</p>}
        </Block>
      );
    case 'resource':
      return (
        <Block kind="resource">
          <p class="link-line">
            <code>{asText(resource?.uri)}</code>
          </p>
          {resource !== undefined && <ResourceContent content={resource} name={name} />}
        </Block>
      );
    default:
      return (
        <Block kind="other">
          <JsonTree value={block} open />
        </Block>
      );
  }
}

export interface ResourceContentProps {
  readonly content: { readonly text?: unknown; readonly blob?: unknown; readonly mimeType?: unknown };
  readonly name: string;
}

/** Renders the content of a resource: text, or bytes that can be shown or saved. */
export function ResourceContent({ content, name }: ResourceContentProps): JSX.Element {
  const { text, blob, mimeType } = content;
  if (text !== undefined) return <TextView text={asText(text)} />;
  if (blob === undefined) return <p class="none">Empty.</p>;
  const type = asText(mimeType);
  if (PICTURES.test(type) || SOUNDS.test(type))
    return (
      <Media block={{ type: PICTURES.test(type) ? 'image' : 'audio', data: blob, mimeType }} name={name} />
    );
  return (
    <p class="caption">
      {`${type === '' ? 'unknown type' : type} · ${size(asText(blob).length * 0.75)} `}
      <Button kind="small" onPress={() => saveBytes(name, asText(blob), type)}>
        Save
      </Button>
    </p>
  );
}

function saveBytes(name: string, base64: string, type: string): void {
  if (!BASE64.test(base64)) return;
  const bytes = Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (char) => char.charCodeAt(0));
  const extension = /^[a-z]+\/([a-z0-9]+)/.exec(type)?.[1] ?? 'bin';
  saveFile(`${name}.${extension}`, bytes, 'application/octet-stream');
}

function Media({ block, name }: ContentViewProps): JSX.Element {
  const [isLarge, setLarge] = useState(false);
  const [type, data] = [asText(block.mimeType), asText(block.data)];
  const isPicture = block.type === 'image';
  if (!(isPicture ? PICTURES : SOUNDS).test(type) || !BASE64.test(data) || data === '')
    return (
      <Block kind="unknown">
        <p class="none">{omittedText(block, type, data)}</p>
      </Block>
    );
  const src = `data:${type};base64,${data}`;
  return (
    <Block kind="media">
      {isPicture ? (
        <button
          class="picture-button"
          type="button"
          aria-label="Enlarge the image"
          onClick={() => setLarge(true)}
        >
          <img class="picture" src={src} alt="Content of the result" />
        </button>
      ) : (
        <audio src={src} controls aria-label="Sound in the result" />
      )}
      <p class="caption">
        {`${type} · ${size(data.length * 0.75)} `}
        <Button kind="small" onPress={() => saveBytes(name, data, type)}>
          Save
        </Button>
      </p>
      {isLarge && (
        <Dialog label="Image" class="picture-dialog" onClose={() => setLarge(false)}>
          <img class="picture" src={src} alt="Content of the result, enlarged" />
          <div class="actions end">
            <Button onPress={() => saveBytes(name, data, type)}>Save</Button>
            <Button onPress={() => setLarge(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </Block>
  );
}

/** Describes media that is not shown: the history keeps only its size. */
function omittedText(block: ContentBlock, type: string, data: string): string {
  const { omittedBytes } = block as { omittedBytes?: unknown };
  return typeof omittedBytes === 'number'
    ? `${type} · ${size(omittedBytes)}, not kept in the history`
    : `${type}, ${data.length} characters of base64`;
}

function TextView({ text }: { readonly text: string }): JSX.Element {
  const [isTyped, setTyped] = useState(false);
  const value = parsed(text);
  if (value !== undefined) return <ValueView value={value} />;
  if (!looksLikeMarkdown(text)) return <Bounded as="pre" class="text" text={text} max={MAX_TEXT_CHARS} />;
  return (
    <div class="rendered">
      <button class="link" type="button" onClick={() => setTyped(!isTyped)}>
        {isTyped ? 'Show as Markdown' : 'Show as typed'}
      </button>
      {isTyped ? (
        <Bounded as="pre" class="text" text={text} max={MAX_TEXT_CHARS} />
      ) : (
        <Markdown class="text" text={text} />
      )}
    </div>
  );
}

/** Parses objects and arrays; undefined for other text, including plain numbers. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSameJson(text: unknown, value: unknown): boolean {
  const other = parsed(text);
  return other !== undefined && JSON.stringify(other) === JSON.stringify(value);
}

function ValueView({ value }: { readonly value: unknown }): JSX.Element {
  const rows = tableIn(value);
  if (rows === undefined) return <JsonTree value={value} open />;
  return (
    <div>
      <DataTable rows={rows} />
      <details class="as-json">
        <summary>As JSON</summary>
        <JsonTree value={value} open />
      </details>
    </div>
  );
}
