/** Renders the result of a tool: text, JSON trees, tables, images and audio. */

import { button, h, plain, props, replace, revealed } from './dom.js';
import { notice } from './notices.js';
import { bounded, cut } from './said.js';

const MAX_TEXT_CHARS = 60_000;
const MAX_CHILDREN = 100;
const MAX_LEAF_CHARS = 1_000;
const MAX_KEY_CHARS = 200;
const MAX_CELL_CHARS = 500;
const MAX_TABLE_ROWS = 200;
const MAX_TABLE_COLUMNS = 12;
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const SOUNDS = /^audio\/[\w.+-]{1,40}$/;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

export function showResult(result) {
  const readable = h('div.blocks');
  const { structuredContent, content = [] } = result;
  if (structuredContent !== undefined) readable.append(block('structured', valueView(structuredContent)));
  for (const each of content) {
    // Servers repeat structured content as text for older clients.
    if (structuredContent !== undefined && each.type === 'text' && sameJson(each.text, structuredContent))
      continue;
    readable.append(blockOf(each));
  }
  if (readable.childElementCount === 0) readable.append(h('p.none', 'The result is empty.'));
  const raw = h('pre.raw');
  const tabs = [
    ['Result', readable],
    ['Raw', raw],
  ];
  const bar = h('div.tabs', props({ role: 'tablist' }));
  const choose = (selected) => {
    if (selected === 'Raw' && raw.textContent === '')
      raw.textContent = cut(revealed(JSON.stringify(result, null, 2)), MAX_TEXT_CHARS);
    for (const [name, pane] of tabs) pane.hidden = name !== selected;
    for (const tab of bar.children) tab.setAttribute('aria-selected', String(tab.textContent === selected));
  };
  for (const [name] of tabs)
    bar.append(h('button.tab', props({ type: 'button', role: 'tab', onclick: () => choose(name) }), name));
  choose('Result');
  const copy = button('Copy', () => copyResult(result), { kind: 'tab' });
  return h('div.result', h('div.result-bar', bar, copy), readable, raw);
}

/** Copies the text if the result is only text, else the whole result as JSON. */
async function copyResult(result) {
  const { content = [], structuredContent } = result;
  const isText = structuredContent === undefined && content.every(({ type }) => type === 'text');
  const text = isText ? content.map((each) => each.text).join('\n') : JSON.stringify(result, null, 2);
  try {
    await navigator.clipboard.writeText(text);
    notice('Copied to the clipboard.');
  } catch {
    notice('The browser did not allow access to the clipboard.', { kind: 'bad' });
  }
}

function blockOf(each) {
  switch (each.type) {
    case 'text':
      return block('text', textOf(each.text));
    case 'image':
      return media(each, PICTURES, (src) => h('img.picture', props({ src, alt: 'Image in the result' })));
    case 'audio':
      return media(each, SOUNDS, (src) => h('audio', props({ src, controls: true })));
    case 'resource_link':
      return block(
        'link',
        h('p.link-line', each.title ?? each.name ?? '', ' ', h('code', each.uri ?? '')),
        each.description === undefined ? '' : bounded('p.caption', each.description),
        each.mimeType === undefined ? '' : h('p.caption', each.mimeType),
      );
    case 'resource':
      return block(
        'resource',
        h('p.link-line', h('code', each.resource?.uri ?? '')),
        each.resource?.text === undefined ? '' : textOf(each.resource.text),
        each.resource?.blob === undefined
          ? ''
          : h(
              'p.caption',
              `${each.resource.mimeType ?? 'unknown type'} · ${size(each.resource.blob.length * 0.75)}`,
            ),
      );
    default:
      return block(String(each.type), jsonTree(each));
  }
}

function block(kind, ...children) {
  return h('section.block', props({ data: { kind } }), ...children);
}

function media({ mimeType = '', data = '' }, allowed, make) {
  if (!allowed.test(mimeType) || !BASE64.test(data))
    return block('unknown', h('p.none', `${mimeType}, ${data.length} characters of base64`));
  return block(
    'media',
    make(`data:${mimeType};base64,${data}`),
    h('p.caption', `${mimeType} · ${size(data.length * 0.75)}`),
  );
}

function size(bytes) {
  return bytes < 1024
    ? `${Math.round(bytes)} bytes`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

function textOf(text) {
  const value = parsed(text);
  if (value !== undefined) return valueView(value);
  return bounded('pre.text', text, { max: MAX_TEXT_CHARS });
}

/** Parses objects and arrays; undefined for other text, including plain numbers. */
function parsed(text) {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sameJson(text, value) {
  const other = parsed(text);
  return other !== undefined && JSON.stringify(other) === JSON.stringify(value);
}

function valueView(value) {
  const rows = tableIn(value);
  return rows === undefined
    ? jsonTree(value, { open: true })
    : h('div', table(rows), h('details.as-json', h('summary', 'As JSON'), jsonTree(value)));
}

/** Returns an array of flat objects: the value itself, or the only array in an object. */
function tableIn(value) {
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter(Array.isArray);
  const [rows] = lists;
  if (lists.length !== 1 || rows === undefined || rows.length === 0 || !rows.every(isFlat)) return undefined;
  return rows;
}

function isFlat(row) {
  return (
    typeof row === 'object' &&
    row !== null &&
    !Array.isArray(row) &&
    Object.keys(row).length > 0 &&
    Object.values(row).every((cell) => typeof cell !== 'object' || cell === null)
  );
}

function table(rows) {
  const names = [...new Set(rows.slice(0, MAX_TABLE_ROWS).flatMap((row) => Object.keys(row)))].slice(
    0,
    MAX_TABLE_COLUMNS,
  );
  const isNumber = (name) =>
    rows.every((row) => row[name] === undefined || row[name] === null || typeof row[name] === 'number');
  const cell = (row, name) =>
    h(
      isNumber(name) ? 'td.number' : 'td',
      row[name] === undefined || row[name] === null ? '–' : cut(plain(row[name]), MAX_CELL_CHARS),
    );
  return h(
    'div.table-frame',
    props({ tabIndex: 0, role: 'region', aria: { label: 'Table' } }),
    h(
      'table',
      h('thead', h('tr', ...names.map((name) => h(isNumber(name) ? 'th.number' : 'th', name)))),
      h(
        'tbody',
        ...rows.slice(0, MAX_TABLE_ROWS).map((row) => h('tr', ...names.map((name) => cell(row, name)))),
      ),
    ),
    rows.length > MAX_TABLE_ROWS ? h('p.none', `${rows.length - MAX_TABLE_ROWS} more rows`) : '',
  );
}

/** Renders a value as a tree whose branches are created when opened; `deep` opens all of them. */
export function jsonTree(value, { open = false, deep = false, name } = {}) {
  const label = name === undefined ? '' : h('span.key', `${cut(revealed(name), MAX_KEY_CHARS)}: `);
  if (typeof value !== 'object' || value === null) {
    const kind = value === null ? 'null' : typeof value;
    const shown = kind === 'string' ? JSON.stringify(value) : String(value);
    return h('div.leaf', label, bounded(`span.${kind}`, shown, { max: MAX_LEAF_CHARS, clean: revealed }));
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.map((each, at) => [String(at), each]) : Object.entries(value);
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) return h('div.leaf', label, h('span.null', isList ? '[]' : '{}'));
  const inner = h('div.branch');
  const fillIn = (from) => {
    for (const [key, each] of entries.slice(from, from + MAX_CHILDREN))
      inner.append(jsonTree(each, { name: key, open: deep, deep }));
    const remaining = entries.length - from - MAX_CHILDREN;
    if (remaining <= 0) return;
    const more = h(
      'button.small',
      props({
        type: 'button',
        onclick: () => {
          more.remove();
          fillIn(from + MAX_CHILDREN);
        },
      }),
      `${remaining} more`,
    );
    inner.append(more);
  };
  const tree = h('details.tree', props({ open }), h('summary', label, h('span.count', summary)), inner);
  const fillOnce = () => {
    if (tree.open && inner.childElementCount === 0) fillIn(0);
  };
  tree.addEventListener('toggle', fillOnce);
  if (open) {
    replace(inner);
    fillOnce();
  }
  return tree;
}
