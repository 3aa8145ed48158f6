import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { hasConditions, parseRule } from '../../src/config/rule-syntax.ts';
import { createHost } from '../../src/index.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import '../property-seed.ts';
import { scratch } from '../world/scratch.ts';

const condition = (argument: string, operator: string, pattern: string, kind = 'text'): object => ({
  argument: argument.split('.').map((member) => ({ member })),
  operator,
  kind,
  pattern,
});

describe('POL-8: the grammar of rules', () => {
  it.each<[string, string, object[]]>([
    [
      'mcp__github__*(owner=acme, repo=*-docs)',
      'mcp__github__*',
      [condition('owner', '=', 'acme'), condition('repo', '=', '*-docs')],
    ],
    ['fs__write(path=${PROJECT_DIR}/**)', 'fs__write', [condition('path', '=', '${PROJECT_DIR}/**', 'path')]],
    [
      'mcp__shell__run(command~"^git (status|log)")',
      'mcp__shell__run',
      [condition('command', '~', '^git (status|log)')],
    ],
    ["s__t(a='x, y)')", 's__t', [condition('a', '=', 'x, y)')]],
    ['s__t( a . b != {x,y} , c!~^z )', 's__t', [condition('a.b', '!=', '{x,y}'), condition('c', '!~', '^z')]],
    ['s__t(p=~/x, q=~)', 's__t', [condition('p', '=', '~/x', 'path'), condition('q', '=', '~', 'path')]],
    ['s__t(p!=~/x)', 's__t', [condition('p', '!=', '~/x', 'path')]],
    ['s__t(u=https://x.test/**)', 's__t', [condition('u', '=', 'https://x.test/**', 'url')]],
    [String.raw`s__t(a="say \"hi\" \d")`, 's__t', [condition('a', '=', String.raw`say "hi" \d`)]],
    ['mcp__@(a|b)__run(x=1)', 'mcp__@(a|b)__run', [condition('x', '=', '1')]],
    ['s__t(a="")', 's__t', [condition('a', '=', '')]],
    ['s__t(*=x)', 's__t', [{ argument: ['all'], operator: '=', kind: 'text', pattern: 'x' }]],
    ['s__t("a.b"=x)', 's__t', [{ argument: [{ member: 'a.b' }], operator: '=', kind: 'text', pattern: 'x' }]],
  ])('parses %s', (rule, name, conditions) => {
    expect(parseRule(rule)).toEqual({ name, conditions });
  });

  it.each([
    'mcp__!(s)__*',
    's__@(a|b)',
    '!(s)__*',
    's__+(a|b)',
    's__?(x)',
    's__[a-c]{x,y}',
    '{s,t}__@(a|{b,c})',
    '!(a)',
  ])('leaves the glob %s as it is', (rule) => {
    expect(parseRule(rule)).toEqual({ name: rule, conditions: [] });
  });

  it.each<[string, string, number]>([
    ['s__t(a==x)', 'Unknown operator "=="', 6],
    ['s__t(a=~"x")', 'Unknown operator "=~"', 6],
    ['s__t(a<5)', 'Unknown operator "<"', 6],
    ['s__t(git:*)', 'Unknown operator ":"', 8],
    ['s__t(a=x, b)', 'An argument has no operator', 11],
    ['s__t(a=)', 'A condition has no pattern', 7],
    ['s__t(a="x)', 'A quote is not closed', 7],
    ['s__t(a="x"y)', 'A pattern in quotes is followed by other text', 10],
    ['s__t(a=x(y))', '"(" is in a pattern without quotes', 8],
    ['s__t(a=x, =y)', 'It lacks the name of an argument', 10],
    ['s__t(a~"(")', 'It is not a regular expression: Unterminated group', 7],
    ['s__t(a~"(?=x)")', 'Lookaround, named groups and flags in groups are not supported', 7],
    [String.raw`s__t(a~"(x)\1")`, 'Back references are not supported', 7],
    ['s__t(a~"(?:x{400}){400}")', 'It is too large', 7],
    ['s__t(a=[x)', 'A "[" has no "]"', 7],
    ['s__t(a=/etc/)', 'A path must not end with "/"', 7],
    ['s__t(a=/x*/../y)', '".." follows a glob', 7],
    ['(a=x)', 'It has no name of a tool before "("', 0],
  ])('rejects %s', (rule, message, at) => {
    const parsed = parseRule(rule);
    expect('fault' in parsed && parsed.fault).toMatchObject({ message, at });
  });

  it.each([
    ['s__t(a~"(")', 'Fix the expression, or escape its special characters with a backslash.'],
    ['s__t(a~"(?=x)")', 'Write it without them, or as several conditions.'],
    [String.raw`s__t(a~"(x)\1")`, 'Write the repeated text again.'],
    ['s__t(a~"(?:x{400}){400}")', 'Shorten the pattern, or write several rules.'],
    ['s__t(a=[x)', String.raw`Close it, or write \[ for the character.`],
    ['s__t(a=/etc/)', 'Write "/etc", or "/etc/**" for everything in it.'],
    ['s__t(a=/x*/../y)', 'Write the path without "..".'],
  ])('gives a hint that fits %s', (rule, hint) => {
    expect(parseRule(rule)).toMatchObject({ name: 's__t', fault: { hint } });
  });

  it.each<[string, string, string]>([
    ['e__run(command=ls', 'e__run', '"(" does not begin valid conditions'],
    ['e__run (command=ls)', 'e__run', 'White space is around the name'],
    [' e__run(command=ls)', 'e__run', 'White space is around the name'],
    ['e__run(command=ls);', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(command)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run()', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run (ls)', 'e__run', 'White space is in the name'],
    ['e__run(com mand=ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(command is ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(=ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(a..b=x)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(command[0]=ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run(command/x=ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run("command=ls)', 'e__run', '"(" does not begin valid conditions'],
    ['e__run[command=ls]', 'e__run', '"[" does not begin a set of characters'],
    ['e__run{command=ls}', 'e__run*', '"=" is in the name'],
    ['e__ru*(command<3)', 'e__ru*', '"<" is in the name'],
    ['e__ru*(command:ls)', 'e__ru*', '":" is in the name'],
    ['e__@(run|x)(command=ls', 'e__@(run|x)', '"(" does not begin valid conditions'],
    [' e__run', 'e__run', 'White space is around the name'],
    ['e__run ', 'e__run', 'White space is around the name'],
    ['e__run\t', 'e__run', 'White space is around the name'],
    ['e__ru n', 'e__ru*', 'White space is in the name'],
    ['e__(run|x)', 'e__*', '"(" does not begin valid conditions'],
    ['e__run)', 'e__run*', '")" closes nothing'],
    ['e__@(run', 'e__*', '"(" is not closed'],
    ['{e,f__run', '*', '"{" is not closed'],
    [' ', '*', 'White space is around the name'],
  ])('rejects the name of %j, which is meant for %s', (rule, name, message) => {
    const parsed = parseRule(rule);
    expect(parsed).toMatchObject({ name, fault: { message } });
  });

  it('parses every text to a rule or a fault inside of it', () => {
    const parts = fc.constantFrom(
      's__t',
      '(',
      ')',
      'a',
      '=',
      '~',
      '!',
      ',',
      '"',
      "'",
      '\\',
      '*',
      '{',
      '}',
      '[',
      ']',
      ' ',
      '/',
      '..',
      '${PROJECT_DIR}',
      ':',
      '.',
    );
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 14 }).map((each) => each.join('')),
        (rule) => {
          const parsed = parseRule(rule);
          if (!('fault' in parsed)) return parsed.conditions.length > 0 === hasConditions(rule);
          return parsed.fault.at >= 0 && parsed.fault.at <= rule.length && parsed.name !== '';
        },
      ),
      { numRuns: 20_000 },
    );
  });
});

describe('POL-8: invalid rules in a file', () => {
  it('are reported with line and column, and the rest of the file is used', async () => {
    const { root, home, write } = scratch();
    write(
      home.config,
      `{
  "toolSearch": true,
  "permissions": {
    "allow": ["s__a", "s__b(x==1)"],
    "deny": ["s__\\u0063(\\"x y\\"=1, z<2)"]
  }
}`,
    );
    const { problems, settings } = await loadConfig({ cwd: root, home });
    expect(problems).toEqual([
      {
        file: home.config,
        line: 4,
        column: 30,
        message: '"permissions.allow[1]" is not a valid rule: Unknown operator "=="; it allows nothing',
        hint: expect.stringMatching(/^The operators are = and != for globs/),
      },
      {
        file: home.config,
        line: 5,
        column: 37,
        message:
          '"permissions.deny[0]" is not a valid rule: Unknown operator "<"; until it is fixed, it denies every call of "s__c"',
        hint: expect.stringMatching(/^The operators are = and != for globs/),
      },
    ]);
    expect(settings).toMatchObject({ toolSearch: true, permissions: { allow: ['s__a', 's__b(x==1)'] } });
  });

  it('are reported inside profiles, like conditions in lists of tools', async () => {
    const { root, home, write } = scratch();
    const profiles = {
      r: { tools: ['s__*', 's__a(x=1)', 's__b '], rules: { deny: ['s__a(x==1)'], allow: ['s__a(x=1)'] } },
    };
    write(home.config, JSON.stringify({ profiles }));
    const { problems, settings } = await loadConfig({ cwd: root, home });
    expect(problems.map(({ message, line }) => [message, line])).toEqual([
      ['"profiles.r.tools[1]" selects no tool: it has conditions', 1],
      ['"profiles.r.tools[2]" is not a valid glob: White space is around the name', 1],
      [
        '"profiles.r.rules.deny[0]" is not a valid rule: Unknown operator "=="; until it is fixed, it denies every call of "s__a"',
        1,
      ],
    ]);
    expect(settings).toMatchObject({ profiles });
    expect(settings.brokenProfiles).toEqual([]);
  });

  it('are reported if they have a relative path without "./"', async () => {
    const { root, home, write } = scratch();
    const allow = ['s__a(path=sub/**)', 's__a(path=./sub/**, url=https://x.test/**, x~a/b)'];
    write(home.config, JSON.stringify({ permissions: { allow, deny: ['s__a(path!=".env")'] } }));
    const { problems } = await loadConfig({ cwd: root, home });
    expect(problems.map(({ message, hint }) => [message, hint])).toEqual([
      [
        '"permissions.allow[0]" compares "sub/**" as text, not as a path',
        'Write "./sub/**" for a path, or a regular expression with "~" for other text.',
      ],
      [
        '"permissions.deny[0]" compares ".env" as text, not as a path',
        'Write "./.env" for a path, or a regular expression with "~" for other text.',
      ],
    ]);
  });

  it('refuse every call of their tools in deny, ask about every call in ask, and allow none', async () => {
    const { root, home, write } = scratch();
    const permissions = { deny: ['s__a(x==1)'], ask: ['s__b(x=~"1")'], allow: ['s__c(x<1)', 's__d'] };
    write(home.config, JSON.stringify({ permissions }));
    const asked: string[] = [];
    const server = scriptedServer({ tools: { a: () => '', b: () => '', c: () => '', d: () => '' } });
    const host = await createHost({
      home: home.dir,
      cwd: root,
      env: {},
      watch: false,
      servers: { s: { command: 'scripted' } },
      replaceTransport: () => server.transport(),
      approve: ({ tool }) => {
        asked.push(tool);
        return 'allow';
      },
    });
    await host.ready();
    const codes = await Promise.all(
      ['a', 'b', 'c', 'd'].map((tool) =>
        host.call(`mcp__s__${tool}`, { x: 5 }).then(
          () => 'passed',
          (error) => error.code,
        ),
      ),
    );
    await host.close();
    expect({ codes, asked }).toEqual({ codes: ['DENIED', 'passed', 'passed', 'passed'], asked: ['b', 'c'] });
  });
});
