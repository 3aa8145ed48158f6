/** Writes the reference program of a task: its sequence of calls as the code that a model would write for them. */

/** The selections of the tasks, as a program writes them. */
const SELECTIONS = [
  [/^conditions$/, (value) => `${value}.conditions`],
  [
    /^replace\(@, '(.*)', '(.*)'\)$/,
    (value, from, to) => `${value}.replaceAll(${quoted(from)}, ${quoted(to)})`,
  ],
  [/^to_string\(@\)$/, (value) => `JSON.stringify(${value})`],
  [
    /^\[\]\.\{name: name, entityType: 'person', observations: \[name\]\}$/,
    (value) =>
      `JSON.parse(${value}).map(({ name }) => ({ name, entityType: 'person', observations: [name] }))`,
  ],
  [
    /^to_string\(\[\?(\w+) (==|<|>) `(\d+)`\]\.(\w+)\)$/,
    (value, key, sign, than, member) =>
      `JSON.stringify(JSON.parse(${value}).filter((row) => row.${key} ${sign} ${than}).map((row) => row.${member}))`,
  ],
  [
    /^split\(@, `"\\n"`\)\[\?contains\(@, '(.*)'\)\] \| \[0\]$/,
    (value, part) => `${value}.split('\\n').find((line) => line.includes(${quoted(part)}))`,
  ],
];
const IDENTIFIER = /^[A-Za-z_]\w*$/;

function quoted(text) {
  return `'${text.replaceAll("'", "\\'")}'`;
}

/** Returns the program; `replaced` fills in the folder and the id of the task. */
export function programOf(task, replaced) {
  const { calls } = task;
  const lines = calls.map(({ tool, arguments: args, as, select }, at) => {
    const call = `await ${nameOf(tool)}(${codeOf(JSON.parse(replaced(JSON.stringify(args))), calls)})`;
    const value = select === undefined ? call : selected(select, `(${call})`);
    if (as !== undefined) return `const ${variable(as)} = ${value};`;
    // A task that only reads is answered with what it read.
    return at === calls.length - 1 ? `${value};` : `${call};`;
  });
  return lines.join('\n');
}

/** Returns the program that finds tools whose signatures are not in the description; undefined if there are none. */
export function searchProgram({ calls }, description, found) {
  const unknown = calls.filter(({ tool }) => !description.includes(`${nameOf(tool)}(`));
  const queries = [...new Set(unknown.map(({ search }) => search))];
  if (queries.length === 0) return undefined;
  return queries.length === 1
    ? `return await search(${quoted(queries[0])}, ${found});`
    : `return await Promise.all([${queries.map(quoted).join(', ')}].map((words) => search(words, ${found})));`;
}

function nameOf(tool) {
  const [server, name] = tool.split('__');
  return `tools.${server}${IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`;
}

function variable(name) {
  return name.replaceAll(/\W/g, '_');
}

/** Members of `structuredContent` that hold the text of a result: a program reads the text there. */
function textIn(calls, name) {
  const { tool, select } = calls.find(({ as }) => as === name);
  if (select !== undefined) return variable(name);
  if (tool === 'git__git_diff') return `${variable(name)}.diff`;
  return `${variable(name)}${tool.startsWith('files__') ? '.content' : ''}`;
}

function codeOf(value, calls) {
  if (Array.isArray(value)) return `[${value.map((item) => codeOf(item, calls)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value.$use !== undefined) {
    const text = textIn(calls, value.$use);
    return value.select === undefined ? text : selected(value.select, text);
  }
  const members = Object.entries(value).map(
    ([key, member]) => `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}: ${codeOf(member, calls)}`,
  );
  return `{ ${members.join(', ')} }`;
}

function selected(expression, value) {
  for (const [pattern, write] of SELECTIONS) {
    const match = pattern.exec(expression);
    if (match !== null) return write(value, ...match.slice(1));
  }
  throw new Error(`There is no code for ${expression}`);
}
