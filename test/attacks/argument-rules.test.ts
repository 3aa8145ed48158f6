/** A49: arguments that are spelt so that a rule does not see what the server gets. */

import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileRule, type RuleEffect } from '../../src/policy/rule-conditions.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { type ScriptedHostOptions, scratch, scriptedHost } from '../world/scripted-host.ts';

interface Place {
  readonly dir: string;
  readonly outside: string;
}

/** A project with a link out of it and a link to itself. */
function createPlace(): Place {
  const dir = realpathSync(scratch());
  const outside = realpathSync(scratch());
  mkdirSync(join(dir, 'src'));
  writeFileSync(join(outside, 'secret'), 'x');
  symlinkSync(outside, join(dir, 'out'));
  symlinkSync('loop', join(dir, 'loop'));
  return { dir, outside };
}

/** Calls the tool `act` of the server `s` under rules: passed, asked, or the code of the error. */
async function outcomes(
  { dir }: Place,
  permissions: object,
  calls: readonly Record<string, unknown>[],
  entry: Record<string, unknown> | undefined = { cwd: dir },
): Promise<readonly string[]> {
  mkdirSync(join(dir, 'home'), { recursive: true });
  writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
  let asked = 0;
  const inputSchema = { type: 'object', properties: { env: { default: 'prod' } } };
  const { host } = await scriptedHost({
    dir,
    server: scriptedServer({ tools: { act: { inputSchema, run: () => 'done' } } }),
    ...(entry === undefined ? {} : { entry }),
    approve: () => {
      asked += 1;
      return 'allow';
    },
  });
  const found: string[] = [];
  for (const args of calls) {
    asked = 0;
    const outcome = host.call('mcp__s__act', args).then(
      () => (asked > 0 ? 'asked' : 'passed'),
      (error) => error.code,
    );
    found.push(await outcome);
  }
  await host.close();
  return found;
}

describe('A49: a path is written in another way', () => {
  const spellings = ({ dir, outside }: Place): Record<string, unknown> => ({
    absolute: `${outside}/secret`,
    'dot segments': `${dir}/src/../../${basename(outside)}/secret`,
    'a relative path': `../${basename(outside)}/secret`,
    'doubled slashes': `${outside}//secret`,
    'a single dot': `${outside}/./secret`,
    'a slash at the end': `${outside}/secret/`,
    'a link out of the project': 'out/secret',
    'a link and a file that does not exist yet': 'out/new/deep/file',
    'a link before dot segments': `out/../${basename(outside)}/secret`,
    'a file URL': `file://${outside}/secret`,
    'a file URL in capitals with a host': `FILE://localhost${outside}/secret`,
    'a file URL with a query': `file://${outside}/secret?x`,
    'percent-encoded dots': `src/%2e%2e/%2E%2E/${basename(outside)}/secret`,
    'percent-encoded twice': `src/%252e%252e/%252e%252e/${basename(outside)}/secret`,
    backslashes: `src\\..\\..\\${basename(outside)}\\secret`,
    'full-width dots and slashes': `src／．．／．．／${basename(outside)}／secret`,
    'white space around it': `  ${outside}/secret `,
    'a character that is not shown': `${outside}/sec\u200bret`,
    'an element of an array': ['src/a.txt', `${outside}/secret`],
    'a nested array': [['src/a.txt', [`${outside}/secret`]]],
    'a circle of links': 'loop/x',
    'a NUL': 'src/a.txt\0.md',
  });

  const place = createPlace();
  const cases = Object.entries(spellings(place));

  it.each(cases)('%s does not get an approval for the project', async (_name, path) => {
    const allow = ['mcp__s__act(path=${PROJECT_DIR}/**)'];
    expect(await outcomes(place, { allow }, [{ path }, { path: 'src/a.txt' }])).toEqual(['asked', 'passed']);
  });

  it.each(cases)('%s does not avoid a refusal of other folders', async (_name, path) => {
    const deny = ['s__act(path!=${PROJECT_DIR}/**)'];
    expect(await outcomes(place, { deny, allow: ['s__act'] }, [{ path }, { path: 'src/a.txt' }])).toEqual([
      'DENIED',
      'passed',
    ]);
  });

  it.each(cases)('%s does not avoid a refusal of its folder', async (_name, path) => {
    const deny = [`mcp__s__act(path=${place.outside}/**)`];
    expect(await outcomes(place, { deny, allow: ['s__act'] }, [{ path }, { path: 'src/a.txt' }])).toEqual([
      'DENIED',
      'passed',
    ]);
  });

  it('a path in the home is refused with ~, and is not a folder "~" of the project', async () => {
    const calls = ['~/.ssh/id', `${homedir()}/.ssh/id`, `~${basename(homedir())}/.ssh/id`, 'src/a.txt'];
    const permissions = { deny: ['s__act(path=~/.ssh/**)'], allow: ['s__act(path=./**)'] };
    expect(
      await outcomes(
        place,
        permissions,
        calls.map((path) => ({ path })),
      ),
    ).toEqual(['DENIED', 'DENIED', 'DENIED', 'passed']);
    expect(await outcomes(place, { allow: ['s__act(path=./**)'] }, [{ path: '~/x' }])).toEqual(['asked']);
  });

  it('a path is resolved again after a call that replaced one of its folders by a link', async () => {
    const dir = realpathSync(scratch());
    const outside = realpathSync(scratch());
    const [home, work] = [join(dir, 'home'), join(dir, 'work')];
    mkdirSync(home);
    mkdirSync(work);
    const permissions = { deny: [`s__act(path=${outside}/**)`], allow: ['s__*'] };
    writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions }));
    const link = ({ at }: Record<string, unknown>): string => {
      rmSync(String(at), { recursive: true, force: true });
      symlinkSync(outside, String(at));
      return 'linked';
    };
    const server = scriptedServer({ tools: { act: { run: () => 'done' }, link: { run: link } } });
    const { host } = await scriptedHost({ dir, server, entry: { cwd: work } });
    const path = 'later/secret';
    const act = (): Promise<unknown> => host.call('mcp__s__act', { path });
    for (const at of [join(work, 'later'), work]) {
      mkdirSync(work, { recursive: true });
      await act();
      await host.call('mcp__s__link', { at });
      await expect(act()).rejects.toMatchObject({ code: 'DENIED' });
      rmSync(at);
    }
    await host.close();
  });

  it('a relative path is also relative to the working folder of the server', async () => {
    const dir = realpathSync(scratch());
    mkdirSync(join(dir, 'home'));
    const permissions = { allow: ['s__act(path=${PROJECT_DIR}/**)'] };
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
    let asked = 0;
    const { host } = await scriptedHost({
      dir,
      server: scriptedServer({ tools: { act: () => 'done' } }),
      entry: { cwd: '/' },
      approve: () => {
        asked += 1;
        return 'allow';
      },
    });
    await host.call('mcp__s__act', { path: 'etc/passwd' });
    await host.call('mcp__s__act', { path: join(dir, 'a') });
    await host.close();
    expect(asked).toBe(1);
  });
});

describe('A49: a server starts outside of the project', () => {
  /** A home folder next to the project: the server `s` starts in `home/folders/s~…`, three folders below `dir`. */
  async function outcomeAt(
    permissions: object,
    path: string,
    options: ScriptedHostOptions = {},
  ): Promise<string> {
    const dir = realpathSync(scratch());
    const [home, cwd] = [join(dir, 'home'), join(dir, 'a', 'b', 'c', 'project')];
    mkdirSync(cwd, { recursive: true });
    mkdirSync(home);
    const text = JSON.stringify({ permissions }).replaceAll('DIR', dir);
    writeFileSync(join(home, 'config.json'), text);
    let asked = 0;
    const { host } = await scriptedHost({
      dir: cwd,
      cwd,
      home,
      server: scriptedServer({ tools: { act: () => 'done' } }),
      ...options,
      approve: () => {
        asked += 1;
        return 'allow';
      },
    });
    const outcome = await host.call('mcp__s__act', { path }).then(
      () => (asked > 0 ? 'asked' : 'passed'),
      (error) => error.code,
    );
    await host.close();
    return outcome;
  }

  it.each<[string, object, string, string]>([
    [
      'does not avoid a refusal',
      { deny: ['s__act(path=DIR/.ssh/**)'], allow: ['*'] },
      '../../../.ssh/id',
      'DENIED',
    ],
    [
      'does not avoid a question',
      { ask: ['s__act(path=DIR/.ssh/**)'], allow: ['*'] },
      '../../../.ssh/id',
      'asked',
    ],
    [
      'does not avoid a refusal of other folders',
      { deny: ['s__act(path!=./**)'], allow: ['*'] },
      'x',
      'DENIED',
    ],
    ['does not get an approval', { allow: ['s__act(path=DIR/a/**)'] }, '../../../.ssh/id', 'asked'],
    ['gets an approval for both folders', { allow: ['s__act(path=DIR/**)'] }, '../x', 'passed'],
  ])('a relative path %s', async (_name, permissions, path, outcome) => {
    expect(await outcomeAt(permissions, path)).toBe(outcome);
  });

  it('the working folder is known if it has variables', async () => {
    const permissions = { deny: ['s__act(path=DIR/a/.ssh/**)'], allow: ['*'] };
    const options = { entry: { cwd: '../../${PLACE}' }, env: { PLACE: 'x/y' } };
    expect(await outcomeAt(permissions, '../../../.ssh/id', options)).toBe('DENIED');
  });

  it('a relative path is unreadable if the working folder is not known', () => {
    const place = { projectDir: '/project', folders: [], isUnknown: true };
    const matches = (effect: RuleEffect, path: string): unknown => {
      const { test: matching } = compileRule('s__act(path=/**)', effect);
      return typeof matching === 'function' && matching({ ...place, arguments: { path } });
    };
    expect(matches('allow', 'x')).toBe(false);
    expect(matches('allow', '/x')).toBe(true);
    expect(matches('refuse', 'x')).toBe(true);
  });
});

describe('A49: a rule has a relative path without "./"', () => {
  it.each(['src/../../../etc/passwd', 'src/./x', 'src//x', 'src/%2e%2e/x', 'src\\..\\x', 'src/..'])(
    '%s does not get an approval',
    async (path) => {
      const calls = [{ path }, { path: 'src/a.txt' }];
      expect(await outcomes(createPlace(), { allow: ['s__act(path=src/**)'] }, calls)).toEqual([
        'asked',
        'passed',
      ]);
    },
  );

  it.each(['.env', './.env', 'src/../.env', './/.env', '%2eenv', '${PROJECT_DIR}/.env'])(
    '%s does not avoid a refusal',
    async (path) => {
      const place = createPlace();
      const calls = [{ path: path.replace('${PROJECT_DIR}', place.dir) }, { path: 'src/env' }];
      expect(await outcomes(place, { deny: ['s__act(path=.env)'], allow: ['*'] }, calls)).toEqual([
        'DENIED',
        'passed',
      ]);
    },
  );
});

describe('A49: a text is written in another way', () => {
  it.each<[string, unknown]>([
    ['capitals', 'Prod'],
    ['full-width letters', 'ｐｒｏｄ'],
    ['a character that is not shown', 'pr\u00adod'],
    ['white space', ' prod\n'],
    ['an additional element', ['test', 'prod']],
    ['a member of an object', { name: 'prod' }],
    ['the name of a member', { prod: 1 }],
    ['a NUL', 'test\0'],
  ])('%s does not avoid a refusal', async (_name, target) => {
    const deny = ['s__act(target=prod)'];
    expect(
      await outcomes(createPlace(), { deny, allow: ['s__act'] }, [{ target }, { target: 'test' }]),
    ).toEqual(['DENIED', 'passed']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a missing argument', {}],
    ['null', { owner: null }],
    ['an empty array', { owner: [] }],
    ['an additional element', { owner: ['acme', 'evil'] }],
    ['an object', { owner: { acme: 'acme' } }],
    ['capitals', { owner: 'ACME' }],
    ['full-width letters', { owner: 'ａｃｍｅ' }],
    ['another argument', { Owner: 'acme' }],
    ['an inherited member', JSON.parse('{"__proto__": {"owner": "acme"}}')],
  ])('%s does not get an approval', async (_name, args) => {
    const allow = ['s__act(owner=acme)'];
    expect(await outcomes(createPlace(), { allow }, [args, { owner: 'acme' }])).toEqual(['asked', 'passed']);
  });

  it('a number is not another value than its text', async () => {
    const permissions = { deny: ['s__act(id=42)'], allow: ['s__act(id=7)'] };
    const calls = [42, '42', 42.0, 7, '7', 8].map((id) => ({ id }));
    expect(await outcomes(createPlace(), permissions, calls)).toEqual([
      'DENIED',
      'DENIED',
      'DENIED',
      'passed',
      'passed',
      'asked',
    ]);
  });

  it('a missing argument is its default', async () => {
    const deny = ['s__act(env=prod)'];
    expect(await outcomes(createPlace(), { deny, allow: ['*'] }, [{}, { env: 'test' }])).toEqual([
      'DENIED',
      'passed',
    ]);
  });

  it.each([
    'https://evil.test/x',
    'HTTPS://EVIL.test/x',
    'https://user:pw@evil.test/x',
    'https://evil.test./x',
    'https://evil.test:443/x',
    'https:evil.test/x',
    'https:\\\\evil.test\\x',
    '//evil.test/x',
    'evil.test/x',
    'evil.test:443/x',
    'https://evil%2etest/x',
    'https://ｅvil.test/x',
    'https://ok.test@evil.test/x',
    'https://ok.test\\@evil.test/x',
    'https://evil.test\\@ok.test/x',
  ])('the URL %s does not avoid a refusal', async (url) => {
    const deny = ['s__act(url=https://evil.test/**)'];
    expect(
      await outcomes(createPlace(), { deny, allow: ['*'] }, [{ url }, { url: 'https://ok.test/' }]),
    ).toEqual(['DENIED', 'passed']);
  });

  it.each([
    'https://evil.test/.example.com/a',
    'https://evil.test?.example.com/a',
    'https://evil.test#.example.com/a',
    'https://evil.test\\.example.com/a',
    'https://evil.test%2f.example.com/a',
    'http://docs.example.com/a',
    'https://docs.example.com@evil.test/a',
    'https://docs.example.com\\@evil.test/a',
    'https://evil.test\\@docs.example.com/a',
    'https://127.0.0.1 .example.com/a',
    'https://evil.test:80.example.com/a',
    'https://[::1].example.com/a',
  ])('the URL %s does not get an approval', async (url) => {
    const allow = ['s__act(url=https://*.example.com/**)'];
    const calls = [{ url }, { url: 'https://docs.example.com/a' }];
    expect(await outcomes(createPlace(), { allow }, calls)).toEqual(['asked', 'passed']);
  });

  it('a refusal of a host includes its schemes and ports', async () => {
    const urls = [
      'http://evil.test:8080/x',
      'https://evil.test',
      'ftp://evil.test:21/a/b',
      'https://ok.test/',
    ];
    const permissions = { deny: ['s__act(url=*://evil.test{,:*}/**)'], allow: ['*'] };
    const calls = urls.map((url) => ({ url }));
    expect(await outcomes(createPlace(), permissions, calls)).toEqual([
      'DENIED',
      'DENIED',
      'DENIED',
      'passed',
    ]);
  });

  it('a value that is too large to compare is neither allowed nor excluded from a refusal', async () => {
    const text = 'x'.repeat(300_000);
    expect(await outcomes(createPlace(), { allow: ['s__act(text=*)'] }, [{ text }])).toEqual(['asked']);
    expect(await outcomes(createPlace(), { deny: ['s__act(text~secret)'] }, [{ text }])).toEqual(['DENIED']);
  });
});

describe('A49: a rule has a typing error', () => {
  const rules = [
    's__act(command=ls',
    's__act (command=ls)',
    ' s__act(command=ls)',
    's__act(command=ls);',
    's__act(command)',
    's__act(ls)',
    's__act(com mand=ls)',
    's__act(=ls)',
    's__act(a..b=x)',
    's__act(command[0]=ls)',
    's__act("command=ls)',
    's__act[command=ls]',
    's__ac*(command<3)',
    's__ac*(command:ls)',
    ' s__act',
    's__act ',
    's__act\t',
    's__(act|x)',
  ];

  it.each(rules)('%j refuses, asks about or does not allow every call', async (rule) => {
    const calls = [{ command: 'x' }];
    const place = createPlace();
    expect(await outcomes(place, { deny: [rule], allow: ['s__act'] }, calls)).toEqual(['DENIED']);
    expect(await outcomes(place, { ask: [rule], allow: ['s__act'] }, calls)).toEqual(['asked']);
    expect(await outcomes(place, { allow: [rule] }, calls)).toEqual(['asked']);
  });
});

describe('A49: a call is made in another way', () => {
  it('rules see the arguments of call_tool, and of calls by either name', async () => {
    const dir = realpathSync(scratch());
    mkdirSync(join(dir, 'home'));
    const permissions = { deny: ['s__act(target=prod)'] };
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions, toolSearch: true }));
    const server = scriptedServer({ tools: { act: () => 'done' } });
    const { host } = await scriptedHost({ dir, server, approvals: 'client' });
    const session = host.session({ gateway: true, approvals: 'client' });
    const codes = await Promise.all(
      ['mcp__s__act', 's__act'].map((name) =>
        session.call(name, { target: 'prod' }).then(
          () => 'passed',
          (error) => error.code,
        ),
      ),
    );
    expect(codes).toEqual(['DENIED', 'DENIED']);
    expect(session.approvalOf('call_tool', { name: 's__act', arguments: { target: 'prod' } })?.decision).toBe(
      'deny',
    );
    expect(session.approvalOf('call_tool', { name: 's__act', arguments: { target: 'x' } })?.decision).toBe(
      'allow',
    );
    expect(session.approvalOf('s__act')?.decision).toBe('ask');
    await host.close();
  });

  it('an approval for the session does not cover arguments that an ask rule names', async () => {
    const dir = realpathSync(scratch());
    mkdirSync(join(dir, 'home'));
    const permissions = { ask: ['s__act(target=prod)', 's__act(target=pr*)'] };
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
    const reasons: string[] = [];
    const { host } = await scriptedHost({
      dir,
      server: scriptedServer({ tools: { act: () => 'done' } }),
      approve: ({ reason }) => {
        reasons.push(reason);
        return 'allow-session';
      },
    });
    for (const target of ['test', 'test', 'prod', 'prod', 'prod', 'pre'])
      await host.call('mcp__s__act', { target });
    await host.close();
    expect(reasons).toEqual([
      'this server is not marked "trusted": true',
      'the rule "s__act(target=prod)" requires approval',
      'the rule "s__act(target=pr*)" requires approval',
    ]);
  });

  it('reads of resources and prompts are refused by their address, name and arguments', async () => {
    const dir = realpathSync(scratch());
    mkdirSync(join(dir, 'home'));
    const permissions = {
      deny: ['mcp__s__resources.read(uri=file:///etc/**)', 's__prompts.get(name=deploy, arguments.env=prod)'],
    };
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
    const server = scriptedServer({ capabilities: { resources: {}, prompts: {} } })
      .on('resources/read', ({ params }) => ({ contents: [{ uri: params['uri'], text: 'text' }] }))
      .on('prompts/list', () => ({ prompts: [{ name: 'deploy', arguments: [{ name: 'env' }] }] }))
      .on('prompts/get', () => ({ messages: [] }));
    const { host } = await scriptedHost({ dir, server });
    const codeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'passed',
        (error) => error.code,
      );
    const codes = [
      await codeOf(host.read('s', 'file:///etc/passwd')),
      await codeOf(host.read('s', 'file:///srv/../etc/passwd')),
      await codeOf(host.prompt('s', 'deploy', { env: 'prod' })),
      await codeOf(host.subscribe('s', 'file:///etc/passwd', () => {})),
    ];
    expect(codes).toEqual(['DENIED', 'DENIED', 'DENIED', 'DENIED']);
    expect(await codeOf(host.read('s', 'file:///srv/a'))).toBe('passed');
    expect(await codeOf(host.prompt('s', 'deploy', { env: 'test' }))).toBe('passed');
    await host.close();
  });
});
