import { expect, it } from 'vitest';
import { assign, parseAssignment, parseKey, unassign } from '../../src/config/assign.ts';
import { replaceTextAt, textAt } from '../../src/config/json-edit.ts';

const set = (raw: Record<string, unknown>, ...words: readonly string[]): unknown =>
  assign(raw, words.map(parseAssignment));

it.each<[readonly string[], Record<string, unknown>]>([
  [['env.DEBUG=1'], { env: { DEBUG: '1' } }],
  [['env.A.B=x=y'], { env: { 'A.B': 'x=y' } }],
  [['headers.X-A=a: b'], { headers: { 'X-A': 'a: b' } }],
  [['args:=["a", "b"]'], { args: ['a', 'b'] }],
  [['args=a', 'args=b'], { args: ['a', 'b'] }],
  [['args=a'], { args: ['a'] }],
  [['enabled:=false'], { enabled: false }],
  [['enabled=false'], { enabled: false }],
  [['startupTimeoutMs=5000'], { startupTimeoutMs: 5000 }],
  [['tools.a.b.approval=prompt'], { tools: { 'a.b': { approval: 'prompt' } } }],
  [['oauth=false'], { oauth: false }],
  [['oauth.callbackPort=8080', 'oauth.scopes=read'], { oauth: { callbackPort: 8080, scopes: ['read'] } }],
  [['sandbox=strict'], { sandbox: 'strict' }],
  [['sandbox=true'], { sandbox: true }],
  [['sandbox.network=full'], { sandbox: { network: 'full' } }],
  [['command=12'], { command: '12' }],
])('F9: %j', (words, expected) => {
  expect(set({}, ...words)).toEqual(expected);
});

it('F9: changes one member and leaves the others', () => {
  const raw = { command: 'x', args: ['a', 'b'], env: { A: '1', B: '2' } };
  expect(set(raw, 'env.A=3', 'args[1]=c', 'args.2=d')).toEqual({
    command: 'x',
    args: ['a', 'c', 'd'],
    env: { A: '3', B: '2' },
  });
  expect(unassign(raw, ['env.A', 'args[0]'].map(parseKey), 'x')).toEqual({
    command: 'x',
    args: ['b'],
    env: { B: '2' },
  });
  expect(unassign(raw, ['env.A', 'env.B'].map(parseKey), 'x')).toEqual({ command: 'x', args: ['a', 'b'] });
});

it.each<[string, string, string]>([
  ['evn.A=1', '"evn" is not a key of a server\'s entry', 'Did you mean "env"?'],
  ['serverUrl=x', '"serverUrl" is not a key of a server\'s entry', 'Write "url".'],
  [
    'DEBUG',
    'Cannot parse "DEBUG": expected key=value',
    "Write key=value, key:='json', or env.NAME=value for one member.",
  ],
  [
    'args:=[a]',
    'The value of args is not valid JSON',
    `For text write args=value; for JSON quote it: args:='["a"]'.`,
  ],
  ['enabled=maybe', '"enabled" must be true or false, not a string', 'Write enabled=true or enabled=false.'],
  [
    'approval=sometimes',
    '"approval" must be "approve", "auto", "writes" or "prompt"',
    'Write approval=approve or approval=auto or approval=writes or approval=prompt.',
  ],
  [
    'startupTimeoutMs=4s',
    '"startupTimeoutMs" must be a whole number from 1 to 2147483647, not a string',
    'Write the time in milliseconds, for example startupTimeoutMs=4000.',
  ],
  [
    'tools.x.approval=sometimes',
    '"tools.x.approval" must be "approve", "auto", "writes" or "prompt"',
    'Write tools.x.approval=approve or tools.x.approval=auto or tools.x.approval=writes or tools.x.approval=prompt.',
  ],
  ['lifecycle=eeger', '"lifecycle" must be "lazy", "eager" or "keep-alive"', 'Did you mean "eager"?'],
  [
    'unapproved:=false',
    '"unapproved" cannot be set by hand',
    'Review and approve the server with plugboard trust <name>.',
  ],
])('F9: refuses %s', (word, message, hint) => {
  expect(() => set({}, word)).toThrow(expect.objectContaining({ code: 'USAGE', message, hint }));
});

it('F9: refuses to remove what is not there', () => {
  const raw = { command: 'x', env: { A: '1' } };
  expect(() => unassign(raw, [['env', 'B']], 'files')).toThrow(
    expect.objectContaining({
      message: 'The entry of "files" has no "env.B"',
      hint: 'env has A.',
    }),
  );
});

it('F9: the text of a value is taken out and put back with its comments and indentation', () => {
  const text =
    '{\n  "mcpServers": {\n    // mine\n    "a": {\n      "command": "x" // here\n    },\n    "b": {}\n  }\n}\n';
  const inside = textAt(text, ['mcpServers', 'a']);
  expect(inside).toBe('{\n  "command": "x" // here\n}');
  expect(replaceTextAt(text, ['mcpServers', 'a'], `${inside}`)).toBe(text);
  expect(replaceTextAt(text, ['mcpServers', 'b'], '{\n  /* new */\n  "url": "y"\n}')).toBe(
    text.replace('"b": {}', '"b": {\n      /* new */\n      "url": "y"\n    }'),
  );
  expect(textAt(text, ['mcpServers', 'c'])).toBeUndefined();
});
