/** Formats a call's result for people: text unchanged, other content as one line that describes it. */

import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';

export interface ToolResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
}

export function resultText(result: ToolResult): string {
  const parts = result.content.map(blockText);
  const hasText = result.content.some((block) => isRecord(block) && block['type'] === 'text');
  if (!hasText && result.structuredContent !== undefined) {
    parts.push(clean(JSON.stringify(result.structuredContent, null, 2)));
  }
  return parts.join('\n');
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return clean(JSON.stringify(block) ?? '');
  const { type } = block;
  if (type === 'text') return clean(String(block['text'] ?? ''));
  if (type === 'image' || type === 'audio') return `[${type}: ${mimeOf(block)}, ${sizeOf(block['data'])}]`;
  if (type === 'resource_link') return `[link: ${oneLine(block['name'])} ${oneLine(block['uri'])}]`;
  if (type === 'resource' && isRecord(block['resource'])) return resourceText(block['resource']);
  return clean(JSON.stringify(block, null, 2));
}

function resourceText(resource: Readonly<Record<string, unknown>>): string {
  const { text, blob } = resource;
  if (typeof text === 'string') return clean(text);
  return `[resource: ${oneLine(resource['uri'])}, ${mimeOf(resource)}, ${sizeOf(blob)}]`;
}

function mimeOf(block: Readonly<Record<string, unknown>>): string {
  return oneLine(block['mimeType'] ?? 'unknown type');
}

function oneLine(value: unknown): string {
  return clean(String(value ?? ''), { multiline: false });
}

/** Returns the decoded size of base64 text. */
function sizeOf(data: unknown): string {
  if (typeof data !== 'string') return 'no data';
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024).toLocaleString('en')} KiB`;
}
