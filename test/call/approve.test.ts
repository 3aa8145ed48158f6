import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forPerson, hintForModel } from '../../src/errors.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../src/index.ts';
import { createGate, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scratch, scriptedHost } from '../world/scripted-host.ts';

type Annotations = Record<string, boolean>;

const READ_ONLY: Annotations = { readOnlyHint: true };
const HARMLESS: Annotations = { destructiveHint: false, openWorldHint: false };
const DESTRUCTIVE: Annotations = { destructiveHint: true, openWorldHint: false };
const OPEN_WORLD: Annotations = { destructiveHint: false, openWorldHint: true };
const NOTHING: Annotations = {};

interface Case {
  readonly entry?: Record<string, unknown>;
  readonly annotations?: Annotations;
  readonly permissions?: Record<string, string[]>;
  readonly approvals?: 'enforce' | 'client';
}

/** Calls one tool of a server and says what happened: passed, asked (and then allowed), or the error's code. */
async function decide({ entry, annotations = NOTHING, permissions, approvals }: Case): Promise<string> {
  const dir = scratch();
  if (permissions !== undefined) {
    mkdirSync(join(dir, 'home'));
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
  }
  let asked = 0;
  const made = await scriptedHost({
    dir,
    server: scriptedServer({ tools: { act: { annotations, run: () => 'done' } } }),
    ...(entry === undefined ? {} : { entry }),
    approvals,
    approve: () => {
      asked += 1;
      return 'allow';
    },
  });
  const outcome = await made.host.call('mcp__s__act').then(
    () => (asked > 0 ? 'asked' : 'passed'),
    (error) => error.code,
  );
  await made.host.close();
  return outcome;
}

describe('CAL-2: decisions for each kind of tool and setting', () => {
  const trusted = { trusted: true };
  it.each<[string, string, Case]>([
    ['auto', 'asked', {}],
    ['auto, read-only (A16)', 'asked', { annotations: READ_ONLY }],
    ['auto, harmless (A16)', 'asked', { annotations: HARMLESS }],
    ['auto, trusted, read-only', 'passed', { entry: trusted, annotations: READ_ONLY }],
    ['auto, trusted, harmless', 'passed', { entry: trusted, annotations: HARMLESS }],
    ['auto, trusted, destructive', 'asked', { entry: trusted, annotations: DESTRUCTIVE }],
    ['auto, trusted, open-world', 'asked', { entry: trusted, annotations: OPEN_WORLD }],
    ['auto, trusted, unknown', 'asked', { entry: trusted }],
    ['writes, read-only (A16)', 'asked', { entry: { approval: 'writes' }, annotations: READ_ONLY }],
    [
      'writes, trusted, read-only',
      'passed',
      { entry: { approval: 'writes', ...trusted }, annotations: READ_ONLY },
    ],
    [
      'writes, trusted, harmless',
      'asked',
      { entry: { approval: 'writes', ...trusted }, annotations: HARMLESS },
    ],
    ['approve', 'passed', { entry: { approval: 'approve' }, annotations: DESTRUCTIVE }],
    [
      'prompt, trusted, read-only',
      'asked',
      { entry: { approval: 'prompt', ...trusted }, annotations: READ_ONLY },
    ],
    [
      'the tool beats its server',
      'asked',
      { entry: { approval: 'approve', tools: { act: { approval: 'prompt' } } } },
    ],
    ['an allow rule', 'passed', { permissions: { allow: ['mcp__s__*'] } }],
    [
      'an allow rule beats prompt',
      'passed',
      { entry: { approval: 'prompt' }, permissions: { allow: ['mcp__s__act'] } },
    ],
    ['an ask rule beats allow', 'asked', { permissions: { ask: ['mcp__s__*'], allow: ['mcp__s__act'] } }],
    [
      'an ask rule beats approve',
      'asked',
      { entry: { approval: 'approve' }, permissions: { ask: ['mcp__s__act'] } },
    ],
    [
      'a deny rule beats all',
      'DENIED',
      {
        entry: { approval: 'approve' },
        permissions: { deny: ['mcp__*'], ask: ['mcp__*'], allow: ['mcp__*'] },
      },
    ],
    ['an allow rule as the gateway names it', 'passed', { permissions: { allow: ['s__act'] } }],
    ['an allow rule with a glob as the gateway names it', 'passed', { permissions: { allow: ['s__*'] } }],
    ['an ask rule as the gateway names it', 'asked', { permissions: { ask: ['s__*'], allow: ['s__act'] } }],
    ['a deny rule as the gateway names it', 'DENIED', { permissions: { deny: ['s__act'], allow: ['*'] } }],
    [
      'a tool by its long name',
      'asked',
      { entry: { approval: 'approve', tools: { mcp__s__act: { approval: 'prompt' } } } },
    ],
    [
      'a tool as the gateway names it',
      'asked',
      { entry: { approval: 'approve', tools: { s__act: { approval: 'prompt' } } } },
    ],
    ['a rule that excludes it by its long name', 'asked', { permissions: { allow: ['!mcp__s__*'] } }],
    ['a rule that excludes it as the gateway names it', 'asked', { permissions: { allow: ['!s__*'] } }],
    ['a rule that excludes its server', 'asked', { permissions: { allow: ['mcp__!(s)__*', '!(s)__*'] } }],
    ['a rule that excludes others', 'passed', { permissions: { allow: ['!mcp__t__*'] } }],
    ['a rule that excludes others, short', 'passed', { permissions: { allow: ['!t__*'] } }],
    ['a rule that excludes another server', 'passed', { permissions: { allow: ['mcp__!(t)__*'] } }],
    ['a deny rule that excludes it', 'asked', { permissions: { deny: ['!mcp__s__*'] } }],
    ['a rule for others', 'asked', { permissions: { allow: ['mcp__t__*', 'mcp__s__other'] } }],
    ['client: auto passes', 'passed', { approvals: 'client', annotations: DESTRUCTIVE }],
    ['client: writes passes', 'passed', { approvals: 'client', entry: { approval: 'writes' } }],
    ['client: prompt asks', 'asked', { approvals: 'client', entry: { approval: 'prompt' } }],
    ['client: an ask rule asks', 'asked', { approvals: 'client', permissions: { ask: ['mcp__s__*'] } }],
    ['client: a deny rule refuses', 'DENIED', { approvals: 'client', permissions: { deny: ['mcp__s__*'] } }],
  ])('%s → %s', async (_what, outcome, given) => {
    expect(await decide(given)).toBe(outcome);
  });

  it.each(['mcp__s__do_it', 's__do_it'])(
    'A23: if two tools claim the name %s, a rule allows neither and denies both',
    async (rule) => {
      const outcomes = async (permissions: object): Promise<unknown[]> => {
        const dir = scratch();
        mkdirSync(join(dir, 'home'));
        writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
        const server = scriptedServer({ tools: { 'do.it': () => 'one', do_it: () => 'other' } });
        const made = await scriptedHost({ dir, server, approve: undefined });
        const names = made.host.tools().map(({ name }) => name);
        const codes = await Promise.all(
          names.map(async (name) => (await failure(made.host.call(name))).code),
        );
        await made.host.close();
        return codes;
      };
      expect(await outcomes({ allow: [rule] })).toEqual(['APPROVAL_REQUIRED', 'APPROVAL_REQUIRED']);
      expect(await outcomes({ deny: [rule] })).toEqual(['DENIED', 'DENIED']);
    },
  );

  it('in a project file, trusted, approval "approve" and permissions have no effect', async () => {
    const dir = scratch();
    const entry = { command: 'scripted', trusted: true, approval: 'approve' };
    writeFileSync(
      join(dir, '.mcp.json'),
      JSON.stringify({ mcpServers: { p: entry }, permissions: { allow: ['mcp__*'] } }),
    );
    const server = scriptedServer({ tools: { act: { annotations: READ_ONLY, run: () => 'done' } } });
    const first = await scriptedHost({ dir, servers: {}, server });
    const { host, home } = first;
    expect(host.servers()).toMatchObject([{ name: 'p', status: 'untrusted' }]);
    await host.close();
    const { openTrust } = await import('../../src/policy/trust.ts');
    const { homeAt } = await import('../../src/config/home.ts');
    const { loadConfig } = await import('../../src/config/load.ts');
    const config = await loadConfig({ cwd: dir, home: homeAt(home), code: undefined });
    await openTrust({ home: homeAt(home), env: {} }).grant(config.servers);
    const asked: string[] = [];
    const second = await scriptedHost({
      dir,
      servers: {},
      server,
      approve: (request) => {
        asked.push(request.name);
        return 'allow';
      },
    });
    await second.host.call('mcp__p__act');
    expect(asked).toEqual(['mcp__p__act']);
    await second.host.close();
  });
});

async function answering(
  answer: ApprovalAnswer,
  dir = scratch(),
): Promise<ScriptedHost & { asked: ApprovalRequest[] }> {
  const asked: ApprovalRequest[] = [];
  const made = await scriptedHost({
    dir,
    server: scriptedServer({ tools: { act: { annotations: { title: 'Act' }, run: () => 'done' } } }),
    approve: (request) => {
      asked.push(request);
      return answer;
    },
  });
  return Object.assign(made, { asked });
}

describe('CAL-2: answers', () => {
  // Protocol: 25-tools-1, 25-tools-2c, 25-tools-18a, 25-tools-18b, 26-tools-2, 26-tools-3c, 26-tools-36a,
  // 26-tools-36b
  it('a question shows server, tool, full arguments and why; events frame it', async () => {
    const made = await answering('allow');
    await made.host.call('mcp__s__act', { path: '/etc' });
    const request = {
      server: 's',
      tool: 'act',
      name: 'mcp__s__act',
      arguments: { path: '/etc' },
      annotations: { title: 'Act' },
      reason: 'this server is not marked "trusted": true',
      session: 'host',
    };
    expect(made.asked).toEqual([request]);
    expect(made.events('question')).toEqual([{ id: 'q1', kind: 'approval', ...request, call: 'c1' }]);
    expect(made.events('answer')).toEqual([{ id: 'q1', kind: 'approval', answer: 'allow' }]);
    await made.host.call('mcp__s__act');
    expect(made.asked).toHaveLength(2);
    await made.host.close();
  });

  it('allow-session asks once in this session, and again in another one', async () => {
    const made = await answering('allow-session');
    await made.host.call('mcp__s__act');
    await made.host.call('mcp__s__act');
    expect(made.asked).toHaveLength(1);
    const other = made.host.session();
    expect((await failure(other.call('mcp__s__act'))).code).toBe('APPROVAL_REQUIRED');
    await made.host.close();
    const next = await answering('deny', join(made.home, '..'));
    expect((await failure(next.host.call('mcp__s__act'))).code).toBe('DENIED');
    await next.host.close();
  });

  it('allow-always is written to config.json, keeps its comments, and holds for the next host', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'home'));
    const file = join(dir, 'home', 'config.json');
    writeFileSync(file, '{\n  // mine\n  "permissions": { "allow": ["mcp__x__*"] }\n}\n');
    const made = await answering('allow-always', dir);
    await made.host.call('mcp__s__act');
    await made.host.call('mcp__s__act');
    expect(made.asked).toHaveLength(1);
    await made.host.close();
    expect(readFileSync(file, 'utf8')).toContain('// mine');
    const next = await answering('deny', dir);
    await next.host.call('mcp__s__act');
    expect(next.asked).toEqual([]);
    await next.host.close();
  });

  it('allow-always that cannot be written lets the call through, and holds for the session', async () => {
    const dir = scratch();
    const made = await answering('allow-always', dir);
    // A folder of that name cannot be written to, not even by root.
    mkdirSync(join(dir, 'home', 'config.json'), { recursive: true });
    await made.host.call('mcp__s__act');
    await made.host.call('mcp__s__act');
    expect(made.asked).toHaveLength(1);
    expect(made.events('log')).toContainEqual(
      expect.objectContaining({
        level: 'warning',
        message: expect.stringMatching(/^mcp__s__act is allowed for this session only: /),
      }),
    );
    await made.host.close();
  });

  it('under an ask rule, allow-always is for the session and nothing is written', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'home'));
    const file = join(dir, 'home', 'config.json');
    const written = JSON.stringify({ permissions: { ask: ['mcp__s__*'] } });
    writeFileSync(file, written);
    const made = await answering('allow-always', dir);
    await made.host.call('mcp__s__act');
    await made.host.call('mcp__s__act');
    expect(made.asked.map(({ askRule }) => askRule)).toEqual(['mcp__s__*']);
    const other = made.host.session();
    expect((await failure(other.call('mcp__s__act'))).detail.advice).toBe(
      'remove or narrow the rule "mcp__s__*" of permissions.ask in config.json',
    );
    await made.host.close();
    expect(readFileSync(file, 'utf8')).toBe(written);
  });

  // Protocol: 25-tools-1, 25-tools-17b, 26-tools-2, 26-tools-35b
  it('deny and cancel end the call, and the server never sees it', async () => {
    for (const [answer, code, outcome] of [
      ['deny', 'DENIED', 'denied'],
      ['cancel', 'CANCELLED', 'cancelled'],
    ] as const) {
      const made = await answering(answer);
      expect((await failure(made.host.call('mcp__s__act'))).code).toBe(code);
      expect(made.events('call.end')).toEqual([{ id: 'c1', outcome, ms: 0, code }]);
      expect(
        made.server.received.some((message) => 'method' in message && message.method === 'tools/call'),
      ).toBe(false);
      await made.host.close();
    }
  });

  it('an answer that is none is a refusal, and one that throws is neither a yes nor an error of Plugboard', async () => {
    const odd = await answering('yes' as ApprovalAnswer);
    expect((await failure(odd.host.call('mcp__s__act'))).toJSON()).toMatchObject({
      code: 'DENIED',
      message: 'approve() answered "yes"',
    });
    await odd.host.close();
    const broken = await scriptedHost({
      approve: () => {
        throw new Error('no terminal');
      },
    });
    expect((await failure(broken.host.call('mcp__s__echo'))).toJSON()).toEqual({
      code: 'APPROVAL_REQUIRED',
      message: 'mcp__s__echo was not called: approve() failed: no terminal',
      server: 's',
      hint: 'It must return an answer instead of throwing if it cannot ask.',
    });
    expect(broken.events('answer')).toEqual([{ id: 'q1', kind: 'approval', answer: 'failed' }]);
    await broken.host.close();
  });

  it('without a way to ask it is refused; the author learns what to do, a model does not', async () => {
    const made = await scriptedHost({ approve: undefined });
    const logged: unknown[] = [];
    made.host.on('log', ({ level, message }) => void logged.push([level, message]));
    const refused = await failure(made.host.call('mcp__s__echo'));
    const message = 'mcp__s__echo must be approved: this server is not marked "trusted": true';
    expect(refused.toJSON()).toEqual({
      code: 'APPROVAL_REQUIRED',
      message,
      server: 's',
      hint: 'No one can be asked here. Give createHost an "approve" function, or set approval: "approve" in the entry of s, or trusted: true to believe its annotations.',
    });
    expect(hintForModel(refused)).toBe(
      "No one can be asked here. Only the user can allow it; Plugboard's log has the rule to change.",
    );
    const advice =
      'give createHost an "approve" function, or set approval: "approve" in the entry of s, or trusted: true to believe its annotations';
    expect(logged).toEqual([['warning', `${message}. To allow it, ${advice}.`]]);
    expect(forPerson(refused).hint).toBe(`No one can be asked here. To allow it, ${advice}.`);
    expect(made.events('question')).toEqual([]);
    await made.host.close();
  });

  it('a call that is cancelled while the person is asked ends at once, and the question is withdrawn', async () => {
    const gate = createGate();
    const seen: (AbortSignal | undefined)[] = [];
    const made = await scriptedHost({
      approve: async ({ signal }) => {
        seen.push(signal);
        await gate.opened;
        return 'allow' as const;
      },
    });
    const controller = new AbortController();
    const call = made.host.call('mcp__s__echo', {}, { signal: controller.signal });
    controller.abort();
    expect((await failure(call)).code).toBe('CANCELLED');
    expect(made.events('answer')).toEqual(
      made.events('question').map(({ id }) => ({ id, kind: 'approval', answer: 'cancelled' })),
    );
    gate.open();
    expect(made.events('call.end')).toEqual([{ id: 'c1', outcome: 'cancelled', ms: 0, code: 'CANCELLED' }]);
    expect(seen.every((signal) => signal?.aborted)).toBe(true);
    await made.host.close();
  });
});
