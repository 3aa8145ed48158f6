/**
 * Finds texts in code that break the style of this project: avoided words in strings that people read, error messages
 * and hints in another form than AGENTS.md asks for, and names of tests that do not state behaviour.
 */

import { parseSync } from 'oxc-parser';

/** Texts that contain an avoided word and are right as they are. Each pattern is removed before words are looked for. */
const ALLOWED = [
  /\b(?:if|what|when|as|whatever|that|files|one|ones|which) you want(?:ed)?\b/gi,
  /\b(?:do|did) you want\b/gi,
  /\bstandard\w*\b/gi,
];

/** Lower-case names that a message may begin with, as a program or a protocol spells them. */
const NAMES = new Set(
  'plugboard git npx npm node bwrap systemd launchd systemctl launchctl ssh curl docker serve env stdin stdout stderr http https stdio sse'.split(
    ' ',
  ),
);

/** Words that only names of tests avoid, each with what to write in its place. */
const AVOIDED_IN_TEST_NAMES = [
  [/\b(?:says?|said|saying)\b/gi, 'reports, returns, states'],
  [/\b(?:heard|hears?)\b/gi, 'receives, reads'],
  [/\bknows?\b(?! how\b)/gi, 'has, finds'],
  [/\b(?:goes|went) away\b/gi, 'disconnects, exits, closes'],
  [/^(?:what|who|whoever|whatever|whichever)\b/gi, 'begin with the subject'],
];

/** Code as the functions of this file take it: parsed once. */
export function parsed(code, file) {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return { program, lineOf: lines(code), isData: DATA.has(file) };
}

/** Lists of words as servers and people write them: data, not our own texts. */
const DATA = new Set(['src/catalog/search/terms.ts', 'src/policy/scan-rules.ts', 'src/policy/scan-words.ts']);

/** Avoided words in strings of at least three words: `[line, word, instead]`. */
export function wordsInStrings(source, avoided) {
  if (source.isData) return [];
  return textsOf(source).flatMap(({ line, text }) => avoidedIn(text, avoided, line));
}

/** Messages and hints of errors with another form than one style asks for. */
export function styleOfMessages({ program, lineOf }, builders) {
  const known = new Map([...importedBuilders(program, builders), ...buildersOf(program)]);
  const found = [];
  const check = (node, faultOf) => {
    for (const leaf of leavesOf(node)) {
      const fault = faultOf(leaf);
      if (fault !== undefined) found.push([lineOf(leaf.start), quoted(leaf), fault]);
    }
  };
  walk(program, (node) => {
    const place = placeOf(node, known);
    if (place?.message !== undefined) check(node.arguments[place.message], messageFault);
    if (place?.hint !== undefined) check(node.arguments[place.hint], hintFault);
    if (node.type === 'Property' && keyOf(node) === 'hint') check(node.value, hintFault);
    if (node.type === 'ObjectExpression') check(problemText(node), messageFault);
  });
  return found;
}

/** The message of a problem: an object literal with a message and its file, server or hint. */
function problemText({ properties }) {
  const isProblem = properties.some((property) => ['file', 'hint', 'server'].includes(keyOf(property)));
  return isProblem ? properties.find((property) => keyOf(property) === 'message')?.value : undefined;
}

/** Exported functions that make an error of a message or a hint that they are called with. */
export function messageBuilders({ program }) {
  const exported = new Set();
  walk(program, (node) => {
    if (node.type === 'ExportNamedDeclaration' && node.declaration?.id?.name)
      exported.add(node.declaration.id.name);
  });
  return [...buildersOf(program)].filter(([name]) => exported.has(name));
}

/** Names of tests that contain an avoided word or begin with a clause in place of a subject. */
export function testNames({ program, lineOf }, avoided) {
  const found = [];
  walk(program, (node) => {
    if (node.type !== 'CallExpression' || !isTest(node.callee)) return;
    for (const leaf of leavesOf(node.arguments[0])) {
      const text = leaf.text.replace(
        /^[A-Z][A-Z0-9]*-?\d[\w.-]*(?:[,/ ]+(?:and )?[A-Z][A-Z0-9]*-?\d[\w.-]*)*: /,
        '',
      );
      found.push(...avoidedIn(text, [...avoided, ...AVOIDED_IN_TEST_NAMES], lineOf(leaf.start)));
    }
  });
  return found;
}

/** Names of vitest that a test declares again. */
export function shadowedNames({ program, lineOf }) {
  const found = [];
  walk(program, (node) => {
    const names = [];
    if (node.type === 'VariableDeclarator') names.push(...boundIn(node.id));
    if (node.params) names.push(...node.params.flatMap(boundIn));
    if (node.type === 'FunctionDeclaration' && node.id) names.push(node.id);
    for (const id of names) {
      if (['it', 'test', 'describe', 'expect', 'vi', 'beforeEach', 'afterEach'].includes(id.name)) {
        found.push([lineOf(id.start), id.name, 'a name of vitest']);
      }
    }
  });
  return found;
}

function boundIn(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => boundIn(property.value ?? property.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(boundIn);
    case 'AssignmentPattern':
      return boundIn(pattern.left);
    case 'RestElement':
      return boundIn(pattern.argument);
    default:
      return [];
  }
}

function avoidedIn(text, avoided, line) {
  const prose = [/`[^`]*`|"[^"]*"/g, ...ALLOWED].reduce(
    (rest, allowed) => rest.replaceAll(allowed, ' '),
    text,
  );
  return avoided.flatMap(([pattern, instead]) =>
    [...prose.matchAll(pattern)].map(([word]) => [line, word, instead]),
  );
}

function messageFault({ text, isStart, isEnd }) {
  if (isStart && beginsLowerCase(text)) return 'a message begins with a capital letter';
  const isOneSentence = !/[.?!] \S/.test(text);
  if (isEnd && isOneSentence && /[^.]\.$/.test(text)) return 'a message of one sentence has no period';
  return undefined;
}

function hintFault({ text, isStart, isEnd }) {
  if (isStart && beginsLowerCase(text)) return 'a hint begins with a capital letter';
  // A command or an example after a colon ends as it is copied.
  const endsAsTyped = /: \S.*$/.test(text);
  if (isEnd && text !== '' && !endsAsTyped && !/[.?!…]$/.test(text)) return 'a hint ends with a period';
  return undefined;
}

function beginsLowerCase(text) {
  const first = /^\S+/.exec(text)?.[0] ?? '';
  return /^[a-z][a-z']*[,;]?$/.test(first) && !NAMES.has(first);
}

/** Texts of three words or more, with each `${…}` as `X`. */
function textsOf({ program, lineOf }) {
  const found = [];
  walk(program, (node, parent) => {
    if (parent?.type?.startsWith('Import') || parent?.type === 'TSLiteralType') return;
    const text = textOf(node);
    if (text === undefined) return;
    // A line of its own for each line of a long text.
    for (const [index, part] of text.split('\n').entries()) {
      if (/\S\s+\S+\s+\S/.test(part)) found.push({ line: lineOf(node.start) + index, text: part });
    }
  });
  return found;
}

function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return undefined;
  return node.quasis.map(({ value }) => value.cooked ?? value.raw).join('X');
}

/** The texts that an expression can be, each with whether it is at the start and at the end of the whole. */
function leavesOf(node, isStart = true, isEnd = true) {
  switch (node?.type) {
    case 'ConditionalExpression':
      return [...leavesOf(node.consequent, isStart, isEnd), ...leavesOf(node.alternate, isStart, isEnd)];
    case 'LogicalExpression':
      return [...leavesOf(node.left, isStart, isEnd), ...leavesOf(node.right, isStart, isEnd)];
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return leavesOf(node.expression, isStart, isEnd);
    case 'BinaryExpression':
      return [...leavesOf(node.left, isStart, false), ...leavesOf(node.right, false, isEnd)];
    case 'Literal':
      return typeof node.value === 'string' ? [{ start: node.start, text: node.value, isStart, isEnd }] : [];
    case 'TemplateLiteral': {
      const texts = node.quasis.map(({ value }) => value.cooked ?? value.raw);
      const starts = isStart && texts[0] !== '';
      const ends = isEnd && texts.at(-1) !== '';
      return [{ start: node.start, text: texts.join('${…}'), isStart: starts, isEnd: ends }];
    }
    default:
      return [];
  }
}

const quoted = ({ text }) => (text.length > 90 ? `${text.slice(0, 60)} … ${text.slice(-25)}` : text);

/** Where the message and the hint are among the arguments of a call or a `new`. */
function placeOf(node, known) {
  if (node.type === 'NewExpression' && /^(?:PlugboardError|RpcFailure)$/.test(node.callee.name))
    return { message: 1 };
  if (node.type === 'CallExpression') return known.get(node.callee.name);
  return undefined;
}

/** Functions that pass one of their parameters on as the message or the hint of an error, also through each other. */
function buildersOf(program) {
  const found = new Map();
  const functions = functionsOf(program);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const [name, { params, body }] of functions) {
      const place = placeOfParams(params, body, found);
      if (place !== undefined) found.set(name, place);
    }
  }
  return found;
}

/** Declared functions and arrow functions that a constant holds, by name. */
function functionsOf(program) {
  const found = new Map();
  walk(program, (node) => {
    if (node.type === 'FunctionDeclaration' && node.id) found.set(node.id.name, node);
    if (node.type === 'VariableDeclarator' && node.init?.type === 'ArrowFunctionExpression')
      found.set(node.id.name, node.init);
  });
  return found;
}

function placeOfParams(params, body, known) {
  const names = params.map((param) => (param.type === 'AssignmentPattern' ? param.left.name : param.name));
  const place = {};
  const note = (kind, value) => {
    const index = value?.type === 'Identifier' ? names.indexOf(value.name) : -1;
    if (index >= 0) place[kind] = index;
  };
  walk(body, (inner) => {
    const at = placeOf(inner, known);
    if (at?.message !== undefined) note('message', inner.arguments[at.message]);
    if (at?.hint !== undefined) note('hint', inner.arguments[at.hint]);
    if (inner.type === 'Property' && keyOf(inner) === 'hint') note('hint', inner.value);
  });
  return place.message === undefined && place.hint === undefined ? undefined : place;
}

function importedBuilders(program, builders) {
  const found = [];
  walk(program, (node) => {
    if (node.type === 'ImportSpecifier' && builders.has(node.imported.name)) {
      found.push([node.local.name, builders.get(node.imported.name)]);
    }
  });
  return found;
}

const keyOf = ({ key }) => key?.name ?? key?.value;

/** `it`, `test`, `describe`, and what vitest hangs on them: `it.each(…)(name)`, `describe.concurrent(name)`. */
function isTest(callee) {
  if (callee.type === 'Identifier') return ['it', 'test', 'describe'].includes(callee.name);
  if (callee.type === 'MemberExpression') return isTest(callee.object);
  return (
    callee.type === 'CallExpression' &&
    callee.callee.type === 'MemberExpression' &&
    isTest(callee.callee.object)
  );
}

function lines(code) {
  const starts = [0];
  for (const { index } of code.matchAll(/\n/g)) starts.push(index + 1);
  return (at) => starts.findLastIndex((start) => start <= at) + 1;
}

function walk(node, visit, parent) {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit, parent);
  } else if (typeof node?.type === 'string') {
    visit(node, parent);
    for (const [key, child] of Object.entries(node)) {
      if (key !== 'type' && child !== null && typeof child === 'object') walk(child, visit, node);
    }
  }
}
