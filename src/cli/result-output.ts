/** Prints the content of results as text, and saves it to files. */

import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { clean, oneLine } from '../policy/clean.ts';
import type { Context } from './cli-command.ts';

/** Formats a call's result for people: text unchanged, other content as one line that describes it. */
interface ToolResult {
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
  if (type === 'resource_link') return `[link: ${lineOf(block['name'])} ${lineOf(block['uri'])}]`;
  if (type === 'resource' && isRecord(block['resource'])) return resourceText(block['resource']);
  return clean(JSON.stringify(block, null, 2));
}

function resourceText(resource: JsonObject): string {
  const { text, blob } = resource;
  if (typeof text === 'string') return clean(text);
  return `[resource: ${lineOf(resource['uri'])}, ${mimeOf(resource)}, ${sizeOf(blob)}]`;
}

function mimeOf(block: JsonObject): string {
  return lineOf(block['mimeType'] ?? 'unknown type');
}

function lineOf(value: unknown): string {
  return oneLine(String(value ?? ''));
}

/** Returns the decoded size of base64 text. */
function sizeOf(data: unknown): string {
  if (typeof data !== 'string') return 'no data';
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024).toLocaleString('en')} KiB`;
}

interface Bytes {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

/** Writes the result's bytes if it has any, else its text, unchanged. */
export async function saveResult(context: Context, result: ToolResult, file: string): Promise<void> {
  const parts = bytesOf(result);
  if (parts.length > 1) {
    throw new PlugboardError('USAGE', `The result has ${parts.length} binary parts, but -o writes one file`, {
      hint: 'Use --save-images DIR.',
    });
  }
  const bytes = parts[0]?.bytes ?? Buffer.from(textOf(result));
  await writeTo(context, resolve(context.cwd, file), bytes);
}

/** Writes each binary part to its own file: `1.png`, `2.wav`. */
export async function saveImages(context: Context, result: ToolResult, folder: string): Promise<void> {
  const dir = resolve(context.cwd, folder);
  const parts = bytesOf(result);
  if (parts.length === 0) context.output.note('note: the result has no binary content');
  else await makeFolder(dir, 0o777).catch((cause: unknown) => refuse(dir, cause));
  for (const [at, { bytes, mimeType }] of parts.entries()) {
    await writeTo(context, join(dir, `${at + 1}.${endingOf(mimeType)}`), bytes);
  }
}

/** Saves results of calls to files: the bytes of images, audio and resources, or the text. */
export async function writeTo({ output }: Context, file: string, bytes: Uint8Array): Promise<void> {
  await writeFile(file, bytes).catch((cause: unknown) => refuse(file, cause));
  output.note(`${bytes.length.toLocaleString('en')} bytes written to ${file}`);
}

function refuse(file: string, cause: unknown): never {
  throw new PlugboardError('USAGE', `${file} cannot be written (${errorCode(cause) ?? 'unknown reason'})`, {
    cause,
    hint: 'Choose a folder that exists and that you can write to.',
  });
}

function bytesOf({ content }: ToolResult): Bytes[] {
  return content.filter(isRecord).flatMap((block: JsonObject) => {
    const inside = isRecord(block['resource']) ? block['resource'] : block;
    const data = inside['blob'] ?? (block['type'] === 'text' ? undefined : inside['data']);
    if (typeof data !== 'string') return [];
    const { mimeType } = inside;
    return [{ bytes: Buffer.from(data, 'base64'), mimeType: typeof mimeType === 'string' ? mimeType : '' }];
  });
}

/** Returns the text blocks unchanged; without any, the result as it is printed. */
function textOf(result: ToolResult): string {
  const texts = result.content.filter(isRecord).flatMap(({ type, text }) => {
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  return texts.length > 0 ? texts.join('\n') : resultText(result);
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'text/plain': 'txt',
};

/** Returns a file extension. The server's MIME type can only add letters and digits, never a path. */
function endingOf(mimeType: string): string {
  const type = mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
  const part = type.split('/')[1]?.replace(/^x-/, '') ?? '';
  return ENDINGS[type] ?? (/^[a-z0-9]{1,8}$/.test(part) ? part : 'bin');
}
