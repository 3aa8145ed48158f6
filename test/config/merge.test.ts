import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/entry.ts';
import { allSpecs, mergeSpecs } from '../../src/config/merge-specs.ts';
import { PRECEDENCE } from '../../src/config/scopes.ts';

/** Each spec with a file of its own, so that all of them are distinguishable. */
const specs: fc.Arbitrary<ServerSpec[]> = fc
  .array(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'),
      scope: fc.constantFrom(...PRECEDENCE),
    }),
    {
      maxLength: 20,
    },
  )
  .map((list) =>
    list.map(({ name, scope }, index) => ({
      name,
      scope,
      file: `/f${index}`,
      entry: { command: name },
      raw: {},
      baseDir: '/',
    })),
  );

const named = (name: string, scope: ServerSpec['scope'], file = `/${scope}`): ServerSpec => ({
  ...{ name, scope, file, baseDir: '/' },
  ...{ entry: { command: file }, raw: {} },
});

describe('mergeSpecs: CFG-3, the whole entry of the stronger scope wins', () => {
  it('local > project > user, and the nearer file first', () => {
    const spec = (scope: ServerSpec['scope'], file: string): ServerSpec => ({
      ...{ name: 's', scope, file, baseDir: '/' },
      ...{ entry: { command: file }, raw: {} },
    });
    const user = spec('user', 'config.json');
    const near = spec('project', 'near/.mcp.json');
    const far = spec('project', '.mcp.json');
    const local = spec('local', 'config.json');
    expect(mergeSpecs([user, near, far, local])).toEqual({
      servers: [local],
      shadowed: [near, far, user],
      waiting: [],
    });
  });

  it('loses nothing, keeps every spec as it was, and one per name', () => {
    fc.assert(
      fc.property(specs, (list) => {
        const { servers, shadowed } = mergeSpecs(list);
        expect(new Set([...servers, ...shadowed])).toEqual(new Set(list));
        expect(servers.length + shadowed.length).toBe(list.length);
        expect(new Set(servers.map(({ name }) => name)).size).toBe(servers.length);
      }),
    );
  });

  it('the winner is at least as strong as everything it hides', () => {
    fc.assert(
      fc.property(specs, (list) => {
        const { servers, shadowed } = mergeSpecs(list);
        const strength = (spec: ServerSpec | undefined): number =>
          PRECEDENCE.indexOf(spec?.scope ?? 'plugin');
        for (const hidden of shadowed) {
          const winner = servers.find(({ name }) => name === hidden.name);
          expect(strength(winner)).toBeLessThanOrEqual(strength(hidden));
        }
        expect(servers.map(strength)).toEqual(servers.map(strength).sort((a, b) => a - b));
      }),
    );
  });

  it('A32: passes over an entry without consent where another has its name, and can be repeated', () => {
    const near = named('a', 'project', '/p/sub/.mcp.json');
    const far = named('a', 'project', '/p/.mcp.json');
    const user = named('a', 'user');
    const alone = named('b', 'project', '/p/.mcp.json');
    const unapproved = ({ scope }: ServerSpec): boolean => scope === 'project';
    const merged = mergeSpecs([user, near, far, alone], unapproved);
    expect(merged).toEqual({ servers: [alone, user], shadowed: [], waiting: [near, far] });
    expect(mergeSpecs(allSpecs(merged), unapproved)).toEqual(merged);
    expect(mergeSpecs(allSpecs(merged))).toEqual({
      servers: [near, alone],
      shadowed: [far, user],
      waiting: [],
    });
  });

  it('A32: uses a built-in server only where no other has its name', () => {
    const builtIn: ServerSpec = { ...named('a', 'code'), builtIn: true };
    const project = named('a', 'project', '/p/.mcp.json');
    expect(mergeSpecs([builtIn, project]).servers).toEqual([project]);
    expect(mergeSpecs([builtIn, project], ({ scope }) => scope === 'project')).toEqual({
      servers: [builtIn],
      shadowed: [],
      waiting: [project],
    });
  });

  it('does not depend on the order in which scopes are given', () => {
    fc.assert(
      fc.property(specs, (list) => {
        const byScope = PRECEDENCE.toReversed().flatMap((scope) =>
          list.filter((spec) => spec.scope === scope),
        );
        expect(mergeSpecs(byScope)).toEqual(mergeSpecs(list));
        expect(mergeSpecs(mergeSpecs(list).servers)).toEqual({
          servers: mergeSpecs(list).servers,
          shadowed: [],
          waiting: [],
        });
      }),
    );
  });
});
