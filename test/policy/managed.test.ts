import { describe, expect, it } from 'vitest';
import type { ServerEntry, ServerSpec } from '../../src/config/entry.ts';
import type { Managed, ManagedMatcher } from '../../src/config/managed.ts';
import { managedFolder } from '../../src/config/managed.ts';
import { blockingRule } from '../../src/policy/managed-rules.ts';
import { matchesUrl } from '../../src/policy/url-pattern.ts';

const spec = (entry: ServerEntry, name = 'x'): ServerSpec => ({
  name,
  scope: 'user',
  entry,
  raw: { ...entry },
  baseDir: '/',
});
const rules = (lists: { allow?: ManagedMatcher[]; deny?: ManagedMatcher[] }): Managed => {
  const rule = (matcher: ManagedMatcher): { matcher: ManagedMatcher; shown: string } => ({
    matcher,
    shown: matcher.kind,
  });
  return {
    servers: [],
    policyFile: 'policy.json',
    ...(lists.allow === undefined ? {} : { allowed: lists.allow.map(rule) }),
    denied: (lists.deny ?? []).map(rule),
    problems: [],
    files: [],
  };
};

describe('managed rules (POL-1)', () => {
  it('are where no variable can move them', () => {
    expect(managedFolder('linux')).toBe('/etc/plugboard');
    expect(managedFolder('darwin')).toBe('/Library/Application Support/Plugboard');
  });

  it.each<[pattern: string, url: string, allow: boolean, deny: boolean]>([
    ['https://*.example.com/*', 'https://a.example.com/mcp', true, true],
    ['https://*.example.com/*', 'https://a.b.example.com/', true, true],
    ['https://*.example.com/*', 'https://example.com/mcp', false, false],
    ['https://*.example.com/*', 'https://evil.test/.example.com/', false, false],
    ['https://*.example.com/*', 'https://evil.test/?x=.example.com/', false, false],
    ['https://*.example.com/*', 'https://a.example.com.evil.test/', false, false],
    ['https://*.example.com/*', 'https://a.example.com@evil.test/', false, false],
    ['https://*.example.com/*', 'https://A.EXAMPLE.com./mcp', true, true],
    ['https://*.example.com/*', 'https://a.example.com:8443/mcp', false, true],
    ['https://*.example.com/*', 'http://a.example.com/mcp', false, true],
    ['https://example.com/public/*', 'https://example.com/private/x', false, false],
    ['https://example.com/public/*', 'https://example.com/public/../private/x', false, false],
    ['https://example.com/secret', 'https://example.com/%73ecret', true, true],
    ['http://127.0.0.1:*/mcp', 'http://127.0.0.1:8080/mcp', true, true],
    ['http://127.0.0.1/*', 'http://2130706433/x', true, true],
    ['https://example.com', 'https://example.com/any/thing?q', true, true],
    ['*', 'https://anything.test:1/x', false, true],
    ['https://*', 'https://anything.test/x', true, true],
  ])('%s and %s', (pattern, url, allow, deny) => {
    expect([matchesUrl(pattern, url, 'allow'), matchesUrl(pattern, url, 'deny')]).toEqual([allow, deny]);
  });

  it('A18: many stars and a long address take a moment, whichever way they are written', () => {
    const address = `https://example.com/${'ab'.repeat(50_000)}`;
    for (const pattern of ['*a*b*a*b*a*c', `${'*a'.repeat(500)}*c`, `${'(['.repeat(20_000)}*`]) {
      expect(matchesUrl(`https://example.com/${pattern}`, address, 'deny')).toBe(false);
    }
    expect(matchesUrl(`https://example.com/${'*a'.repeat(500)}*b`, address, 'deny')).toBe(true);
  });

  it('compare commands word by word, before and after variables are filled in', () => {
    const denied = rules({ deny: [{ kind: 'command', words: ['npx', '-y', 'pkg'] }] });
    const blocked = (entry: ServerEntry, env: NodeJS.ProcessEnv = {}): boolean =>
      blockingRule(spec(entry), denied, env) !== undefined;
    expect(blocked({ command: 'npx', args: ['-y', 'pkg'] })).toBe(true);
    expect(blocked({ command: 'npx', args: ['-y', '${P:-pkg}'] })).toBe(true);
    expect(blocked({ command: '${X}', args: ['-y', 'pkg'] }, { X: 'npx' })).toBe(true);
    expect(blocked({ command: 'npx', args: ['-y', 'pkg', '--more'] })).toBe(false);
    expect(blocked({ command: 'npx -y pkg' })).toBe(false);
  });

  it('allows by what would run, not by how it is written', () => {
    const allowed = rules({ allow: [{ kind: 'command', words: ['npx', '${P}'] }] });
    expect(blockingRule(spec({ command: 'npx', args: ['${P}'] }), allowed, { P: 'evil' })).toBe(
      'allowedServers in policy.json does not list it',
    );
  });

  it('a denial wins over a permission, and a closed policy over everything', () => {
    const both = rules({ allow: [{ kind: 'name', name: 'x' }], deny: [{ kind: 'name', name: 'x' }] });
    expect(blockingRule(spec({ command: 'x' }), both, {})).toBe('name in policy.json denies it');
    expect(blockingRule(spec({ command: 'x' }), { ...rules({}), closed: 'broken' }, {})).toBe('broken');
  });
});
