/** The dialog that adds a server: a command, a URL or an entry as JSON, and its scope. */

import { api } from './api.js';
import { button, h, props, replace } from './dom.js';
import { parseJson } from './json-text.js';
import { notice } from './notices.js';
import { shellWords } from './shell-words.js';
import { loadTools, reloadServers, store } from './store.js';

const SCOPES = [
  ['local', 'You, in this project'],
  ['user', 'You, everywhere'],
  ['project', 'Everyone who works on this project (.mcp.json)'],
];

export function openAddDialog(onAdded) {
  const name = h('input', props({ type: 'text', required: true, autocomplete: 'off', placeholder: 'files' }));
  const kind = h(
    'select',
    h('option', props({ value: 'stdio' }), 'A command on this machine'),
    h('option', props({ value: 'http' }), 'An address'),
    h('option', props({ value: 'json' }), 'An entry as JSON'),
  );
  const command = h(
    'input.mono',
    props({
      type: 'text',
      spellcheck: false,
      placeholder: 'npx -y @modelcontextprotocol/server-filesystem .',
    }),
  );
  const url = h(
    'input.mono',
    props({ type: 'url', spellcheck: false, placeholder: 'https://example.com/mcp' }),
  );
  const entry = h(
    'textarea.mono',
    props({
      rows: 6,
      spellcheck: false,
      placeholder: '{ "command": "npx", "args": ["-y", "…"], "env": { "KEY": "${KEY}" } }',
    }),
  );
  const environment = linesInput('NAME=value, or NAME=${NAME} to take it from your environment');
  const headers = linesInput('X-Key=${DOCS_KEY}');
  const scope = h('select', ...SCOPES.map(([value, label]) => h('option', props({ value }), label)));
  const errorBox = h('div', props({ role: 'alert' }));
  const fields = {
    stdio: [
      field('Command', command, 'Split into arguments as a shell would, but not run by a shell.'),
      field('Environment', environment, 'One per line.'),
    ],
    http: [field('Address', url), field('Headers', headers, 'One per line: Name=value.')],
    json: [field('Entry', entry)],
  };
  const place = h('div');
  const showKind = () => replace(place, ...fields[kind.value]);
  kind.addEventListener('change', showKind);
  showKind();

  async function add(isReplacement = false) {
    replace(errorBox);
    try {
      const body = {
        name: name.value.trim(),
        scope: scope.value,
        entry: entryOf(kind.value, { command, url, entry, environment, headers }),
        ...(isReplacement ? { replace: true } : {}),
      };
      const otherScope = store.servers.find((each) => each.name === body.name)?.scope;
      const added = await api('POST', '/api/servers', body);
      dialog.close();
      const done = isReplacement ? 'replaced' : 'added';
      notice(`${added.name} is ${done}${added.status === 'connected' ? ' and connected' : ''}.`, {
        hint:
          precedenceHint(body, otherScope, added) ??
          (added.unapproved === undefined ? added.error?.hint : 'Read its entry and approve it to start it.'),
      });
      await Promise.all([reloadServers(), loadTools()]);
      onAdded(added.name);
    } catch (error) {
      const isTaken = error.status === 409 && error.code === 'USAGE';
      replace(
        errorBox,
        h(
          'div.callout.bad',
          h('p', error.message),
          isTaken ? h('p.hint', 'Choose another name, or replace its entry.') : '',
          isTaken
            ? h(
                'div.actions',
                button('Replace it', () => add(true), { kind: 'danger' }),
              )
            : '',
          isTaken || error.hint === undefined ? '' : h('p.hint', error.hint),
        ),
      );
    }
  }
  const submit = button('Add', () => add(), { kind: 'primary' });
  const form = h(
    'form',
    props({ method: 'dialog' }),
    h('h2', 'Add a server'),
    h('div.pair', field('Name', name), field('For', scope)),
    field('Kind of server', kind),
    place,
    errorBox,
    h(
      'div.actions.end',
      button('Cancel', () => dialog.close(), { kind: 'quiet' }),
      submit,
    ),
  );
  // Enter submits; by default it would close the dialog without adding the server.
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target.tagName === 'INPUT') {
      event.preventDefault();
      submit.click();
    }
  });
  const dialog = h('dialog', props({ aria: { label: 'Add a server' } }), form);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}

/** Returns a hint if the same name exists in another scope, because only one of the entries is used. */
function precedenceHint({ name, scope }, otherScope, added) {
  if (otherScope === undefined || otherScope === scope) return undefined;
  return added.scope === scope
    ? `It is used instead of ${name} in ${otherScope} scope.`
    : `It is not used: ${name} in ${added.scope} scope has precedence.`;
}

function linesInput(placeholder) {
  return h('textarea.mono', props({ rows: 2, spellcheck: false, placeholder }));
}

function field(label, control, note) {
  const id = `add-${label.toLowerCase().replaceAll(' ', '-')}`;
  control.id = id;
  return h(
    'div.field',
    h('label', props({ for: id }), label),
    control,
    note === undefined ? '' : h('p.field-note', note),
  );
}

function entryOf(kind, { command, url, entry, environment, headers }) {
  if (kind === 'json') {
    try {
      return parseJson(entry.value);
    } catch (error) {
      throw new Error(`The entry ${error.message}.`);
    }
  }
  const named = Object.fromEntries(
    (kind === 'http' ? headers : environment).value.split('\n').flatMap((line) => {
      const at = line.search(/[=:]/);
      return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
    }),
  );
  const hasNamed = Object.keys(named).length > 0;
  if (kind === 'http') return { url: url.value.trim(), ...(hasNamed ? { headers: named } : {}) };
  const [program, ...args] = shellWords(command.value);
  if (program === undefined) throw new Error('Enter a command.');
  return { command: program, ...(args.length === 0 ? {} : { args }), ...(hasNamed ? { env: named } : {}) };
}
