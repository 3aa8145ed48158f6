/** Rules of `permissions`, and values of arguments under them: neither may throw or take long. */

import { parseRule } from '../../../src/config/rule-syntax.ts';
import { compileRule } from '../../../src/policy/rule-conditions.ts';
import type { Edge } from '../edge.ts';

const RULES = [
  'mcp__github__*(owner=acme, repo=*-docs)\nacme',
  'mcp__fs__write_file(path=${PROJECT_DIR}/**, mode!={r,w}?[a-z])\nsrc/%2e%2e/../a//b/',
  'mcp__shell__run(command~"^git (status|log)$", cwd!~\'\\\\bx{2,3}\\\\b\')\ngit status',
  'web__@(get|head)(url=https://*.example.com/**, "a.b".*=x)\nhttps://u:p@docs.example.com:443/a?b#c',
  '!(s)__*(a=~/x, b=file:///etc/**)\nfile:///etc/passwd',
];

export const rules: Edge = {
  name: 'rules',
  runs: 400,
  open: () => ({
    corpus: RULES.map((text) => Buffer.from(text)),
    check(input) {
      const [rule = '', ...rest] = input.toString('utf8').split('\n');
      const value = rest.join('\n');
      const parsed = parseRule(rule);
      if ('fault' in parsed && (parsed.fault.at < 0 || parsed.fault.at > rule.length))
        throw new Error(`a position outside of the rule: ${parsed.fault.at}`);
      for (const effect of ['allow', 'refuse'] as const) {
        const { test: matches } = compileRule(rule, effect);
        if (typeof matches !== 'function') continue;
        for (const each of [value, [value], { value }, null, 1])
          matches({
            arguments: { owner: each, path: each, url: each, a: each, 'a.b': each },
            projectDir: '/p',
            folders: [],
          });
      }
    },
  }),
};
