/** Renders Markdown as elements. `marked` only splits the text into tokens: no markup is created from text. */

import { useSignal } from '@preact/signals';
import type { Token, Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { plain } from '../text.ts';
import { LinkLook } from './link-look.tsx';

/** Longer text is shown as it is: the time of the lexer is not bounded by the length alone. */
const MAX_MARKDOWN_CHARS = 30_000;
const MAX_TOKEN_DEPTH = 20;

/** True if the text uses Markdown that is easier to read when it is rendered. */
export function looksLikeMarkdown(text: string): boolean {
  return (
    text.length <= MAX_MARKDOWN_CHARS &&
    /(?:^|\n)(?:#{1,6} \S|[-*] \S|\d+\. \S|> \S|```|\|.+\|\s*\n\s*\|[ :|-]+\|)|\*\*\S[^*\n]*\*\*|`[^`\n]+`|\[[^\]\n]+\]\(https?:/.test(
      text,
    )
  );
}

export interface MarkdownProps {
  readonly text: unknown;
  readonly class?: string;
}

export function Markdown({ text, class: name = '' }: MarkdownProps): JSX.Element {
  const whole = plain(text);
  const split = useSignal<Split | undefined>(undefined);
  const isMarkdown = looksLikeMarkdown(whole);
  useEffect(() => {
    if (!isMarkdown) return;
    void loadSplit().then((loaded) => {
      split.value = loaded;
    });
  }, [isMarkdown]);
  const tokens = useMemo(
    () => (isMarkdown ? tokensIn(whole, split.value) : undefined),
    [whole, isMarkdown, split.value],
  );
  if (tokens === undefined) return <div class={`${name} as-typed`}>{whole}</div>;
  return <div class={`${name} markdown`}>{tokens.map((token, at) => blockOf(token, at, 0))}</div>;
}

type Split = (text: string) => readonly Token[];

async function loadSplit(): Promise<Split> {
  const { tokensOf } = await import('./markdown-tokens.ts');
  return tokensOf;
}

/** Returns the tokens; undefined while the lexer is loaded, or if it fails: the text is shown as typed then. */
function tokensIn(text: string, split: Split | undefined): readonly Token[] | undefined {
  try {
    return split?.(text);
  } catch {
    return undefined;
  }
}

function blockOf(token: Token, key: number, depth: number): ComponentChildren {
  if (depth > MAX_TOKEN_DEPTH) return token.raw;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr key={key} />;
    case 'heading':
      // Below the headings of the page, whatever level the text uses.
      return <h4 key={key}>{inlinesOf(token, depth)}</h4>;
    case 'code':
      return (
        <pre key={key} class="code" tabIndex={0}>
          {(token as Tokens.Code).text}
        </pre>
      );
    case 'blockquote':
      return <blockquote key={key}>{blocksOf((token as Tokens.Blockquote).tokens, depth)}</blockquote>;
    case 'list':
      return listOf(token as Tokens.List, key, depth);
    case 'table':
      return tableOf(token as Tokens.Table, key, depth);
    case 'html':
      return <p key={key}>{token.raw.trimEnd()}</p>;
    case 'text':
    case 'paragraph':
      return <p key={key}>{inlinesOf(token, depth)}</p>;
    default:
      return <p key={key}>{token.raw}</p>;
  }
}

function blocksOf(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, at) => blockOf(token, at, depth + 1));
}

function listOf({ ordered, items }: Tokens.List, key: number, depth: number): JSX.Element {
  const rows = items.map((item, at) => (
    <li key={at}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {item.loose ? blocksOf(item.tokens, depth) : tightOf(item.tokens, depth)}
    </li>
  ));
  return ordered ? <ol key={key}>{rows}</ol> : <ul key={key}>{rows}</ul>;
}

/** Text of a list item without blank lines is not a paragraph of its own. */
function tightOf(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, at) =>
    token.type === 'text' ? (
      <span key={at}>{inlinesOf(token, depth + 1)}</span>
    ) : (
      blockOf(token, at, depth + 1)
    ),
  );
}

function tableOf({ header, rows }: Tokens.Table, key: number, depth: number): JSX.Element {
  return (
    <div key={key} class="table-frame" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at}>{inlineTokens(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{inlineTokens(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlinesOf(token: Token, depth: number): ComponentChildren {
  const { tokens, text } = token as { tokens?: Token[]; text?: string };
  return tokens === undefined ? unescaped(text ?? token.raw) : inlineTokens(tokens, depth);
}

function inlineTokens(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, at) => inlineOf(token, at, depth + 1));
}

function inlineOf(token: Token, key: number, depth: number): ComponentChildren {
  if (depth > MAX_TOKEN_DEPTH) return token.raw;
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inlinesOf(token, depth)}</strong>;
    case 'em':
      return <em key={key}>{inlinesOf(token, depth)}</em>;
    case 'del':
      return <s key={key}>{inlinesOf(token, depth)}</s>;
    case 'codespan':
      return <code key={key}>{unescaped((token as Tokens.Codespan).text)}</code>;
    case 'br':
      return <br key={key} />;
    case 'link':
      return (
        <LinkLook key={key} url={(token as Tokens.Link).href}>
          {inlinesOf(token, depth)}
        </LinkLook>
      );
    case 'image':
      // The page loads nothing from elsewhere: the picture is a link.
      return (
        <LinkLook key={key} url={(token as Tokens.Image).href}>
          {(token as Tokens.Image).text || 'picture'}
        </LinkLook>
      );
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'text':
      return inlinesOf(token, depth);
    default:
      return token.raw;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Reverses the escapes that the lexer adds for markup: the text is never markup here. */
function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
