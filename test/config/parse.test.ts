import { describe, expect, it } from 'vitest';
import { checkServerName, parseEntry, parseServers, parseSettings } from '../../src/config/parse.ts';
import type { Scope } from '../../src/config/scopes.ts';
import { sentences } from '../../src/lib/sentences.ts';

/** What was wrong, as `path: message. hint`. */
function faultsOf(value: unknown, scope: Scope = 'user'): string[] {
  return parseEntry('s', value, scope).faults.map(({ path, message, hint }) => {
    return `${path.join('.')}: ${sentences(message, hint)}`;
  });
}

describe('an entry: CFG-1, a union on kind', () => {
  it.each([
    [{ command: 'npx', args: ['-y'], env: { A: 'b' }, envVars: ['C'], cwd: 'd' }],
    [
      {
        url: 'https://example.com/mcp',
        headers: { 'X-Key': 'k' },
        headersFromEnv: { 'X-Other': 'V' },
        headersHelper: './h',
      },
    ],
    [
      {
        type: 'sse',
        url: 'http://127.0.0.1:1/sse',
        bearerTokenEnvVar: 'T',
        oauth: { clientId: 'a', scopes: ['repo'], callbackPort: 8080 },
      },
    ],
    [
      {
        type: 'stdio',
        command: 'x',
        enabled: false,
        required: true,
        startupTimeoutMs: 1,
        toolTimeoutMs: 2,
        maxTotalMs: 3,
      },
    ],
    [
      {
        url: 'http://a/',
        oauth: false,
        enabledTools: ['a*'],
        disabledTools: [],
        approval: 'writes',
        trusted: true,
        tools: { t: { approval: 'prompt', maxOutputTokens: 5 } },
      },
    ],
    [
      {
        command: 'x',
        maxOutputTokens: 9,
        alwaysLoad: true,
        lifecycle: 'keep-alive',
        shared: true,
        sandbox: { network: false },
        pins: 'warn',
        inheritEnv: true,
      },
    ],
    [{ url: '${BASE}/mcp' }],
  ])('%j is accepted as it is', (value) => {
    const { entry, raw, faults } = parseEntry('s', value, 'user');
    expect({ entry, raw, faults }).toEqual({ entry: value, raw: value, faults: [] });
  });

  it.each(['http', 'streamable-http', 'streamableHttp'])('the type %s means http', (type) => {
    expect(parseEntry('s', { type, url: 'https://a/' }, 'user').entry).toEqual({
      type: 'http',
      url: 'https://a/',
    });
  });

  it('keeps unknown keys in raw and reports nothing about them', () => {
    const value = { command: 'x', 'x-comand': 1, description: 'mine', icon: 'star' };
    expect(parseEntry('s', value, 'user')).toEqual({ entry: { command: 'x' }, raw: value, faults: [] });
  });

  it('disables a server by "disabled", whatever "enabled" is', () => {
    const entries = [
      { disabled: true },
      { disabled: true, enabled: true },
      { disabled: false, enabled: false },
    ];
    for (const switches of entries)
      expect(parseEntry('s', { command: 'x', ...switches }, 'user')).toMatchObject({
        entry: { command: 'x', enabled: false },
        faults: [],
      });
    expect(parseEntry('s', { command: 'x', disabled: false }, 'user').entry).toEqual({ command: 'x' });
    expect(faultsOf({ command: 'x', disabled: 'yes' })).toEqual([
      'disabled: "disabled" must be true or false, not a string',
    ]);
  });

  it('names what to write instead of keys that other agents have', () => {
    expect(faultsOf({ command: 'x', environment: {}, timeout: 5, autoApprove: ['t'] })).toEqual([
      'environment: "environment" has no effect here. Write "env".',
      'timeout: "timeout" has no effect here. Write "startupTimeoutMs" or "toolTimeoutMs", in milliseconds: other agents mean one or the other.',
      'autoApprove: "autoApprove" has no effect here. Write "tools": { "<tool>": { "approval": "approve" } }.',
    ]);
    expect(faultsOf({ serverUrl: 'https://a/' })).toContain(
      ': It has neither a "command" nor a "url". Write "url".',
    );
  });

  it.each([
    ['text', 'A server must be an object with a "command" or a "url"'],
    [null, 'A server must be an object with a "command" or a "url"'],
    [[], 'A server must be an object with a "command" or a "url"'],
    [{}, 'It has neither a "command" nor a "url". Give the program to start, or an address.'],
    [{ command: 'x', url: 'http://a/' }, 'It has both a "command" and a "url". Keep the one that is meant.'],
    [
      { type: 'http', command: 'x' },
      'Its "type" needs a "url", but it has a "command". Leave "type" out, or set it to "stdio".',
    ],
    [
      { type: 'stdio', url: 'http://a/' },
      'Its "type" needs a "command", but it has a "url". Leave "type" out, or set it to "http" or "sse".',
    ],
  ])('%j is refused', (value, message) => {
    expect(faultsOf(value)).toEqual([`: ${message}`]);
    expect(parseEntry('s', value, 'user').entry).toBeUndefined();
  });

  it.each([
    [{ args: '-y' }, 'args: "args" must be a list of strings, not a string'],
    [{ args: ['-y', 5] }, 'args.1: "args[1]" must be a string, not a number'],
    [{ env: { A: 1 } }, 'env.A: "env.A" must be a string, not a number'],
    [{ env: { 'A=B': 'x' } }, 'env.A=B: "A=B" must be the name of an environment variable'],
    [{ env: ['A=b'] }, 'env: "env" must be an object of strings, not a list'],
    [{ enabled: 'no' }, 'enabled: "enabled" must be true or false, not a string'],
    [
      { startupTimeoutMs: -1 },
      'startupTimeoutMs: "startupTimeoutMs" must be a whole number from 1 to 2147483647',
    ],
    [
      { startupTimeoutMs: Number.POSITIVE_INFINITY },
      'startupTimeoutMs: "startupTimeoutMs" must be a whole number from 1 to 2147483647',
    ],
    [
      { toolTimeoutMs: '30s' },
      'toolTimeoutMs: "toolTimeoutMs" must be a whole number from 1 to 2147483647, not a string',
    ],
    [
      { approval: 'aprove' },
      'approval: "approval" must be "approve", "auto", "writes" or "prompt". Did you mean "approve"?',
    ],
    [
      { tools: { t: { approval: 1 } } },
      'tools.t.approval: "tools.t.approval" must be "approve", "auto", "writes" or "prompt", not a number',
    ],
    [{ command: '' }, 'command: "command" must be a string that is not empty'],
    [{ command: 'a\0b' }, 'command: "command" must be a string without NUL characters'],
    [{ cwd: null }, 'cwd: "cwd" must be a string that is not empty, not null'],
  ])('a command with %j is refused and names the key', (more, fault) => {
    expect(faultsOf({ command: 'x', ...more })).toEqual([fault]);
    expect(parseEntry('s', { command: 'x', ...more }, 'user').entry).toBeUndefined();
  });

  it.each([
    [{ url: 'ftp://a/' }, 'url: "url" must be an http or https address'],
    [{ url: 'example.com/mcp' }, 'url: "url" must be an http or https address'],
    [{ url: 5 }, 'url: "url" must be a string that is not empty, not a number'],
    [{ headers: { 'X Y': 'v' } }, 'headers.X Y: "X Y" must be a header\'s name'],
    [{ headers: { X: 'a\r\nB: c' } }, 'headers.X: "headers.X" must be a string without line breaks'],
    [{ oauth: 'yes' }, 'oauth: "oauth" must be true or false or an object, not a string'],
    [
      { oauth: { callbackPort: 70000 } },
      'oauth.callbackPort: "oauth.callbackPort" must be a whole number from 1 to 65535',
    ],
  ])('a url with %j is refused and names the key', (more, fault) => {
    expect(faultsOf({ url: 'http://a/', ...more })).toEqual([fault]);
  });

  it('never repeats a value: it may be a secret in the wrong place', () => {
    expect(
      JSON.stringify(
        parseEntry('s', { url: 'sk-secret', approval: 'sk-secret', env: 'sk-secret' }, 'user').faults,
      ),
    ).not.toContain('sk-secret');
  });

  it.each([
    [{ command: 'x', agrs: [] }, 'agrs: "agrs" is not a known key and has no effect. Did you mean "args"?'],
    [
      { command: 'x', start_up_timeout_ms: 5 },
      'start_up_timeout_ms: "start_up_timeout_ms" is not a known key and has no effect. Did you mean "startupTimeoutMs"?',
    ],
    [
      { url: 'http://a/', oauth: { clientid: 'a' } },
      'oauth.clientid: "oauth.clientid" is not a known key and has no effect. Did you mean "clientId"?',
    ],
    [{ url: 'http://a/', args: ['x'] }, 'args: "args" has no effect with a url. Take it out.'],
  ])('%j counts, and a slip is pointed out', (value, fault) => {
    expect(faultsOf(value)).toEqual([fault]);
    expect(parseEntry('s', value, 'user').entry).toBeDefined();
  });

  it('a typo of the one key that matters gives the hint at once', () => {
    expect(faultsOf({ comand: 'npx' })).toEqual([
      ': It has neither a "command" nor a "url". Did you mean "command"?',
      'comand: "comand" is not a known key and has no effect. Did you mean "command"?',
    ]);
  });
});

describe('an entry of a project: POL-2, it cannot lower the guard of the person who opens it', () => {
  const value = {
    command: 'x',
    trusted: true,
    inheritEnv: true,
    approval: 'approve',
    sandbox: false,
    tools: { a: { approval: 'approve', maxOutputTokens: 5 }, b: { approval: 'prompt' } },
  };

  it.each(['project', 'plugin'] as const)('in %s scope', (scope) => {
    const { entry, raw } = parseEntry('s', value, scope);
    expect({ entry, raw }).toEqual({
      entry: { command: 'x', tools: { a: { maxOutputTokens: 5 }, b: { approval: 'prompt' } } },
      raw: value,
    });
    expect(parseEntry('s', value, scope).faults.map(({ message, fatal }) => ({ message, fatal }))).toEqual(
      ['trusted', 'inheritEnv', 'approval', 'sandbox', 'tools.a.approval'].map((key) => ({
        message: `"${key}" has no effect in a ${scope === 'plugin' ? "plugin's" : 'project'} file`,
        fatal: false,
      })),
    );
  });

  it.each(['user', 'local', 'code'] as const)('all of it counts in %s scope', (scope) => {
    expect(parseEntry('s', value, scope)).toEqual({ entry: value, raw: value, faults: [] });
  });

  it('asking for a stronger guard counts', () => {
    const strict = { command: 'x', trusted: false, approval: 'prompt', sandbox: { network: false } };
    expect(parseEntry('s', strict, 'project')).toEqual({ entry: strict, raw: strict, faults: [] });
  });
});

describe('names of servers', () => {
  it.each([
    'a',
    'my server',
    'a/b',
    'Dateien ü',
    '🔧 tools',
    '👩‍💻',
    '__proto__',
    'constructor',
    'a.b',
    'x'.repeat(128),
  ])('%s is one', (name) => {
    expect(checkServerName(name)).toBeUndefined();
  });

  it.each([
    ['', "A server's name must not be empty."],
    ['  ', "A server's name must not be empty."],
    ['-x', 'The server name "-x" must not begin with a dash'],
    ['x'.repeat(129), "A server's name has at most 128 characters"],
    ['a\u0007b', 'The server name "a\\u0007b" has characters that cannot be printed'],
    ['a\nb', 'The server name "a\\nb" has characters that cannot be printed'],
    ['a\u202eb', 'The server name "a\\u{202e}b" has characters that cannot be printed'],
    ['a\u{e0041}', 'The server name "a\\u{e0041}" has characters that cannot be printed'],
    ['a\ud800', 'The server name "a\\ud800" has characters that cannot be printed'],
  ])('%j is none', (name, message) => {
    expect(checkServerName(name)).toBe(message);
  });

  it('__proto__ and constructor are harmless as names of servers, tools and variables', () => {
    const value = JSON.parse(
      '{"__proto__":{"command":"a","tools":{"__proto__":{"maxOutputTokens":1}},"env":{"constructor":"c"}},"constructor":{"command":"b"}}',
    );
    const { servers, faults } = parseServers(value, { scope: 'user', baseDir: '/' });
    expect({
      names: servers.map(({ name }) => name),
      faults,
      polluted: Object.hasOwn(Object.prototype, 'command'),
    }).toEqual({
      names: ['__proto__', 'constructor'],
      faults: [],
      polluted: false,
    });
    const tools = servers[0]?.entry.tools ?? {};
    expect([tools['constructor'], Object.entries(tools)]).toEqual([
      undefined,
      [['__proto__', { maxOutputTokens: 1 }]],
    ]);
  });
});

describe('several servers', () => {
  it('a broken one is left out and reported, the others are used', () => {
    const value = {
      good: { command: 'a' },
      bad: { command: 5 },
      '-x': { command: 'b' },
      also: { url: 'http://a/' },
    };
    const { servers, faults } = parseServers(value, { scope: 'user', file: '/f', baseDir: '/b' }, [
      'mcpServers',
    ]);
    expect({ servers, faults }).toEqual({
      servers: [
        {
          name: 'good',
          scope: 'user',
          file: '/f',
          baseDir: '/b',
          entry: { command: 'a' },
          raw: { command: 'a' },
        },
        {
          name: 'also',
          scope: 'user',
          file: '/f',
          baseDir: '/b',
          entry: { url: 'http://a/' },
          raw: { url: 'http://a/' },
        },
      ],
      faults: [
        {
          path: ['mcpServers', 'bad', 'command'],
          at: 'value',
          server: 'bad',
          fatal: true,
          message: '"command" must be a string that is not empty, not a number',
        },
        {
          path: ['mcpServers', '-x'],
          at: 'key',
          server: '-x',
          fatal: true,
          message: 'The server name "-x" must not begin with a dash',
        },
      ],
    });
  });
});

describe('settings: CFG-2', () => {
  it('a setting that does not fit is left out, the others count', () => {
    const { settings, faults } = parseSettings({
      mcpServers: {},
      defaults: { toolTimeoutMs: 5, approval: 'prompt' },
      permissions: { allow: ['mcp__a__*'], deny: 'all' },
      toolSearch: 'auto:10',
      naming: 'short',
      client: { name: 'me' },
      telemetery: true,
    });
    expect({ settings, faults: faults.map(({ message, hint }) => [message, hint]) }).toEqual({
      settings: {
        defaults: { toolTimeoutMs: 5, approval: 'prompt' },
        toolSearch: 'auto:10',
        naming: 'short',
        client: { name: 'me' },
        permissions: { allow: ['mcp__a__*'] },
      },
      faults: [
        ['"permissions.deny" must be a list of tool names or globs, not a string', undefined],
        ['"telemetery" is not a known key and has no effect', 'Did you mean "telemetry"?'],
      ],
    });
  });

  it('ask and deny for one plugin have no effect, and its other rules are used', () => {
    const permissions = { allow: ['p:s__*'], ask: ['p:s__x'], deny: ['*'] };
    const { settings, faults } = parseSettings({ plugins: { p: { path: '/p', permissions } } });
    const hint = 'Set it in permissions at the top level, which is for all servers.';
    expect([settings.plugins?.['p']?.permissions?.allow, faults]).toEqual([
      ['p:s__*'],
      ['ask', 'deny'].map((key) => ({
        path: ['plugins', 'p', 'permissions', key],
        at: 'key',
        message: `"plugins.p.permissions.${key}" has no effect for one plugin`,
        hint,
        fatal: false,
      })),
    ]);
  });

  it.each([
    [0, { firstListWaitMs: 0 }, []],
    [600_000, { firstListWaitMs: 600_000 }, []],
    [-1, {}, ['"firstListWaitMs" must be a whole number from 0 to 600000']],
    ['1s', {}, ['"firstListWaitMs" must be a whole number from 0 to 600000, not a string']],
  ])(
    'CON-16: firstListWaitMs is a whole number of milliseconds, 0 included (%j)',
    (value, settings, messages) => {
      const parsed = parseSettings({ firstListWaitMs: value });
      expect([parsed.settings, parsed.faults.map(({ message }) => message)]).toEqual([settings, messages]);
    },
  );
});
