/** The routes for permission rules: which there are, what one would allow, adding and removing. */

import { RULE_LISTS, type RuleList } from '../host/host-rules.ts';
import { defined } from '../lib/defined.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref } from './api-schemas.ts';
import { textIn } from './query-values.ts';
import { type JsonRoute, refusal } from './route.ts';

export function ruleRoutes({ host, traffic }: Pick<RouteParts, 'host' | 'traffic'>): readonly JsonRoute[] {
  const all = async (): Promise<object> => ({ rules: await host.management.rules.list() });
  const answer = object({ rules: list(ref('Rule')) });
  return [
    {
      method: 'GET',
      path: '/api/rules',
      operation: 'listRules',
      summary:
        'The rules of config.json: yours, those for servers of projects and plugins, and those of profiles.',
      answer,
      handle: all,
    },
    {
      method: 'POST',
      path: '/api/rules',
      operation: 'addRule',
      summary: 'Add a rule to a list of permissions. One that does not parse is refused, with the position.',
      body: 'NewRule',
      status: 201,
      answer,
      fails: [409],
      handle: async ({ body }) => {
        const { list: name, rule, project, plugin } = body as unknown as NewRule;
        await host.management.rules.add(name, rule, defined({ project, plugin }));
        await host.reload(undefined, { settle: false });
        return all();
      },
    },
    {
      method: 'DELETE',
      path: '/api/rules',
      operation: 'removeRule',
      summary: 'Remove a rule from a list of permissions.',
      query: {
        list: { type: 'string', enum: RULE_LISTS, description: 'The list that has it.' },
        rule: { type: 'string', description: 'The rule, as it is written.' },
        project: { type: 'string', description: 'The folder of the project that it is for.' },
        plugin: { type: 'string', description: 'The plugin that it is for.' },
      },
      answer,
      fails: [404, 409],
      handle: async ({ query }) => {
        const name = RULE_LISTS.find((each) => each === query.get('list'));
        const rule = textIn(query, 'rule');
        if (name === undefined || rule === undefined) throw refusal(400, 'The list and the rule are needed');
        const owner = { project: textIn(query, 'project'), plugin: textIn(query, 'plugin') };
        if (!(await host.management.rules.remove(name, rule, owner)))
          throw refusal(404, `No such rule is in ${name}`, {
            hint: 'It was removed already, or is written otherwise.',
          });
        await host.reload(undefined, { settle: false });
        return all();
      },
    },
    {
      method: 'POST',
      path: '/api/rules/preview',
      operation: 'previewRule',
      summary: 'Which known tools a rule is about, and whether it would decide the call of a question.',
      body: 'RuleQuestion',
      answer: ref('RulePreview'),
      handle: ({ body }) => {
        const { rule, list: name = 'allow', question } = body as unknown as RuleQuestion;
        const asked = question === undefined ? undefined : traffic.askedAbout(question);
        const { rules } = (asked?.host ?? host).management;
        return rules.preview(rule, name, asked?.call);
      },
    },
  ];
}

interface NewRule {
  readonly list: RuleList;
  readonly rule: string;
  readonly project?: string;
  readonly plugin?: string;
}

interface RuleQuestion {
  readonly rule: string;
  readonly list?: RuleList;
  readonly question?: string;
}
