/**
 * The JavaScript that runs inside the sandbox before a program: its functions, and the promises that it waits for.
 *
 * It keeps the built-in functions that it needs, because the program may replace them. All that leaves the sandbox is
 * text, through `post`; messages have no prototype, so that a program's `toJSON` does not change them.
 */

export const GUEST_CODE = `((post, setup) => {
  'use strict';
  const { stringify, parse } = JSON;
  const { apply } = Reflect;
  const { keys, defineProperty } = Object;
  const [P, E, S, X] = [Promise, Error, String, Proxy];
  const { then } = P.prototype;
  const { join } = Array.prototype;
  const { messageChars, outputTokens, storedChars, servers } = setup;
  const pending = { __proto__: null };
  const stored = { __proto__: null };
  for (const key of keys(setup.stored)) stored[key] = setup.stored[key];
  let last = 0;
  let written = 0;

  const send = (message) => {
    const text = stringify(message);
    if (text.length > messageChars) throw new E('A value of ' + text.length + ' characters is too long to leave the program; the limit is ' + messageChars);
    post(text);
  };
  const ask = (message) =>
    new P((resolve, reject) => {
      last += 1;
      message.id = last;
      pending[last] = { __proto__: null, resolve, reject };
      send(message);
    });
  const settle = (id, ok, text) => {
    const waiting = pending[id];
    if (waiting === undefined) return;
    delete pending[id];
    const value = text === undefined ? undefined : parse(text);
    if (ok) return waiting.resolve(value);
    const error = new E(value.message);
    defineProperty(error, 'name', { __proto__: null, value: 'ToolError', configurable: true });
    error.code = value.code;
    if (value.hint !== undefined) error.hint = value.hint;
    waiting.reject(error);
  };
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof E) return S(value.name) + ': ' + S(value.message);
    try {
      return stringify(value) ?? S(value);
    } catch {
      return S(value);
    }
  };
  const threw = (error) => {
    let [name, text, stack, code] = ['', '', undefined, undefined];
    try {
      const isError = error instanceof E;
      name = isError ? S(error.name) : '';
      text = isError ? S(error.message) : shown(error);
      stack = isError ? S(error.stack ?? '') : undefined;
      code = isError && error.code !== undefined ? S(error.code) : undefined;
    } catch {
      text = 'The program threw a value that cannot be read';
    }
    const most = 4000;
    send({ __proto__: null, kind: 'threw', name: name.slice(0, 100), text: text.slice(0, most), stack: stack?.slice(0, most), code });
  };
  const write = (kind, text) => {
    // As the host estimates it, for ASCII.
    written += ((text.length + 3) >> 2) + 1;
    if (written > outputTokens) throw new E('The output of a program is limited to about ' + outputTokens + ' tokens');
    send({ __proto__: null, kind, text });
  };
  const named = (make, names) =>
    new X({ __proto__: null }, {
      __proto__: null,
      get: (_, name) => (typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : make(name)),
      set: () => false,
      defineProperty: () => false,
      ownKeys: () => names,
      getOwnPropertyDescriptor: (_, name) => typeof name === 'string' && names.includes(name) ? { value: make(name), enumerable: true, configurable: true, writable: false } : undefined,
    });
  const tools = named((server) => named((tool) => (args = {}) => ask({ __proto__: null, kind: 'call', server, tool, args }), []), servers);
  const log = (...parts) => {
    const texts = [];
    for (let at = 0; at < parts.length; at += 1) texts[at] = shown(parts[at]);
    write('log', apply(join, texts, [' ']));
  };
  const given = {
    __proto__: null,
    tools,
    input: setup.input === undefined ? undefined : parse(setup.input),
    search: (query, limit) => ask({ __proto__: null, kind: 'search', query, limit }),
    describe: (name) => ask({ __proto__: null, kind: 'describe', name: typeof name === 'string' ? name : shown(name) }),
    resources: { __proto__: null, read: (server, uri) => ask({ __proto__: null, kind: 'read', server, uri }), list: (server) => ask({ __proto__: null, kind: 'list', server }) },
    store: (key, value) => {
      const name = S(key);
      const text = stringify(value);
      let chars = name.length + (text?.length ?? 0);
      for (const other of keys(stored)) if (other !== name) chars += other.length + stored[other].length;
      if (chars > storedChars) throw new E('Stored values are limited to ' + storedChars + ' characters together');
      if (text === undefined) delete stored[name];
      else stored[name] = text;
      send({ __proto__: null, kind: 'store', key: name, json: text });
    },
    load: (key) => {
      const text = stored[S(key)];
      return text === undefined ? undefined : parse(text);
    },
    text: (value) => write('text', shown(value)),
    image: (data, mimeType = 'image/png') => send({ __proto__: null, kind: 'image', data: S(data), mimeType: S(mimeType) }),
    console: { __proto__: null, log, info: log, warn: log, error: log, debug: log },
  };
  for (const name of keys(given)) defineProperty(globalThis, name, { __proto__: null, value: given[name], writable: false, configurable: false, enumerable: true });
  const begin = (main) => {
    try {
      apply(then, main(), [(value) => {
        try {
          send({ __proto__: null, kind: 'done', value });
        } catch (error) {
          threw(error);
        }
      }, threw]);
    } catch (error) {
      threw(error);
    }
  };
  return [settle, begin];
})`;
