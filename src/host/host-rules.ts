/** Permission rules of a host for a person: which there are, what one of them would allow, and their changes. */

import { decisionOn, type Judged, pathPlace } from '../call/approve.ts';
import type { Tool } from '../catalog/tool.ts';
import { readDocument } from '../config/document.ts';
import { allowAlways, change } from '../config/edit-config.ts';
import type { Permissions, ServerSpec, Settings } from '../config/entry.ts';
import { projectKey } from '../config/project-key.ts';
import type { RuleFault } from '../config/rule-names.ts';
import { hasConditions, parseRule } from '../config/rule-syntax.ts';
import { allowPath, allowPlace } from '../config/rules.ts';
import { entryOwner, isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, valueAt } from '../lib/json.ts';
import { ruleMatcher } from '../policy/approval.ts';
import { compileRule, type RuleEffect, type RuleSubject } from '../policy/rule-conditions.ts';
import { isDestructive, suggestedRules } from '../policy/suggested-rules.ts';
import type { HostCore } from './host-core.ts';

export type RuleList = keyof Permissions;
export const RULE_LISTS: readonly RuleList[] = ['deny', 'ask', 'allow', 'readOnly'];

const MAX_PREVIEWED_TOOLS = 200;

/** Where rules for the servers of one project or plugin are; neither: the person's own rules. */
export interface RuleOwner {
  readonly project?: string | undefined;
  readonly plugin?: string | undefined;
}

export interface ListedRule {
  readonly list: RuleList;
  readonly rule: string;
  readonly owner: 'you' | 'project' | 'plugin' | 'profile';
  /** The folder, plugin or profile that it belongs to. */
  readonly of?: string;
  readonly isEditable: boolean;
  /** How many known tools it is about. */
  readonly tools: number;
  readonly hasConditions: boolean;
  readonly fault?: RuleFault;
}

/** One call that a rule is compared with. */
export interface RuleCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: unknown;
}

export interface PreviewedTool {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly destructive: boolean;
  /** Its calls are allowed already, without the rule. */
  readonly alreadyAllowed: boolean;
}

export type RulePreview =
  | { readonly valid: false; readonly fault: RuleFault }
  | {
      readonly valid: true;
      readonly rule: string;
      readonly name: string;
      /** Set if only some calls of the tools are meant: the conditions as text. */
      readonly onlyWith?: string;
      readonly conditions: readonly {
        readonly argument: string;
        readonly operator: string;
        readonly kind: string;
        readonly pattern: string;
      }[];
      readonly tools: readonly PreviewedTool[];
      /** Tools that are not in the list, because there are too many. */
      readonly more: number;
      /** Whether the call that is asked about would be decided by it. */
      readonly isThisCall?: boolean;
      /** Rules that still ask about or deny this call. */
      readonly stronger?: readonly {
        readonly list: 'ask' | 'deny';
        readonly rule?: string;
        readonly reason: string;
      }[];
    };

/** What a person should know before they approve a call. */
export interface ApprovalFacts {
  readonly destructive: boolean;
  /** The rule that "always" writes, and the list in config.json that it is written to. */
  readonly rule: string;
  readonly ruleIn: string;
  /** Rules for this tool and for these arguments, most general first. */
  readonly suggestions: readonly string[];
}

interface Known {
  readonly tool: Tool;
  readonly spec: ServerSpec;
}

export class HostRules {
  readonly #core: HostCore;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Undefined for a tool that no server has, such as one of the gateway itself. */
  factsOf(call: RuleCall): ApprovalFacts | undefined {
    const known = this.#find(call);
    if (known === undefined) return undefined;
    const { tool, spec } = known;
    const { rule } = this.#core.catalog.snapshot.ruleNames(tool);
    const subject = this.#subjectOf(known, call.arguments);
    return {
      destructive: isDestructive(tool, spec.entry.trusted === true),
      rule,
      ruleIn: allowPlace(spec),
      suggestions: suggestedRules(rule, subject),
    };
  }

  /** `call`: the call that is asked about; the rule is then for the servers of the same owner. */
  preview(rule: string, list: RuleList, call?: RuleCall): RulePreview {
    const parsed = parseRule(rule);
    if ('fault' in parsed) return { valid: false, fault: parsed.fault };
    const effect: RuleEffect = list === 'ask' || list === 'deny' ? 'refuse' : 'allow';
    const asked = call === undefined ? undefined : this.#find(call);
    const matches = ruleMatcher(parsed.name);
    const found = this.#tools().filter(
      ({ tool, spec }) =>
        (effect === 'refuse' || isSameOwner(spec, asked?.spec)) &&
        matches(this.#core.catalog.snapshot.ruleNames(tool)[effect === 'allow' ? 'assigned' : 'all']),
    );
    return {
      valid: true,
      rule,
      name: parsed.name,
      conditions: parsed.conditions.map(({ argument, operator, kind, pattern }) => ({
        argument: argument.map((segment) => (segment === 'all' ? '*' : segment.member)).join('.'),
        operator,
        kind,
        pattern,
      })),
      ...(parsed.conditions.length === 0 ? {} : { onlyWith: rule.slice(parsed.name.length + 1, -1) }),
      tools: found.slice(0, MAX_PREVIEWED_TOOLS).map(({ tool, spec }) => ({
        name: tool.name,
        server: tool.server,
        tool: tool.tool,
        destructive: isDestructive(tool, spec.entry.trusted === true),
        alreadyAllowed: decisionOn(this.#judged({ tool, spec })).kind === 'pass',
      })),
      more: Math.max(0, found.length - MAX_PREVIEWED_TOOLS),
      ...(asked === undefined || call === undefined ? {} : this.#onCall(rule, list, asked, call, found)),
    };
  }

  #onCall(
    rule: string,
    list: RuleList,
    asked: Known,
    call: RuleCall,
    found: readonly Known[],
  ): Pick<Extract<RulePreview, { valid: true }>, 'isThisCall' | 'stronger'> {
    const effect: RuleEffect = list === 'ask' || list === 'deny' ? 'refuse' : 'allow';
    const { test } = compileRule(rule, effect);
    const isNamed = found.some(({ tool }) => tool === asked.tool);
    const fits = test === undefined || (test !== 'never' && test(this.#subjectOf(asked, call.arguments)));
    const isThisCall = isNamed && fits;
    if (list !== 'allow' || !isThisCall) return { isThisCall };
    const judged = this.#judged(asked, call.arguments);
    const decision = decisionOn({ ...judged, settings: withAllowed(judged.settings, asked.spec, rule) });
    if (decision.kind === 'pass') return { isThisCall };
    const { kind, reason } = decision;
    return {
      isThisCall,
      stronger: [{ list: kind, reason, ...(decision.rule === undefined ? {} : { rule: decision.rule }) }],
    };
  }

  /** Returns the rules of config.json; those of profiles are changed with their profile. */
  async list(): Promise<readonly ListedRule[]> {
    const { home } = this.#core;
    const { value } = await readDocument(home.config);
    const rules: ListedRule[] = [];
    const add = (path: readonly string[], more: Pick<ListedRule, 'owner' | 'of' | 'isEditable'>): void => {
      for (const list of RULE_LISTS) {
        const found = valueAt(value, [...path, list]);
        for (const rule of Array.isArray(found) ? found : [])
          if (typeof rule === 'string') rules.push(this.#listed(rule, list, more));
      }
    };
    add(['permissions'], { owner: 'you', isEditable: true });
    for (const [key, owner, member] of [
      ['projects', 'project', 'permissions'],
      ['plugins', 'plugin', 'permissions'],
      ['profiles', 'profile', 'rules'],
    ] as const) {
      const owners = valueAt(value, [key]);
      for (const of of Object.keys(isRecord(owners) ? owners : {}))
        add([key, of, member], { owner, of, isEditable: owner !== 'profile' });
    }
    return rules;
  }

  #listed(rule: string, list: RuleList, more: Pick<ListedRule, 'owner' | 'of' | 'isEditable'>): ListedRule {
    const preview = this.preview(rule, list);
    return {
      list,
      rule,
      ...more,
      hasConditions: hasConditions(rule),
      tools: preview.valid ? preview.tools.length + preview.more : 0,
      ...(preview.valid ? {} : { fault: preview.fault }),
    };
  }

  /** @throws PlugboardError CONFIG_INVALID, with the position, for a rule that does not parse. */
  async add(list: RuleList, rule: string, owner: RuleOwner = {}): Promise<void> {
    checkRule(rule);
    const { home } = this.#core;
    await change(home.config, { home }, (root) => {
      const path = pathOf(list, owner, root);
      const found = valueAt(root, path);
      const rules = Array.isArray(found) ? found : [];
      return rules.includes(rule) ? undefined : { path, value: [...rules, rule] };
    });
  }

  /**
   * Adds a rule that a person wrote for a call, to the list that allows calls of its server.
   *
   * @throws PlugboardError CONFIG_INVALID for a rule that does not parse, INVALID_ARGUMENTS for one that does not allow the call.
   */
  async allow(rule: string, call: RuleCall): Promise<void> {
    const preview = this.preview(rule, 'allow', call);
    if (!preview.valid) throw invalidRule(preview.fault);
    const [stronger] = preview.stronger ?? [];
    const known = this.#find(call);
    if (known === undefined || preview.isThisCall !== true || stronger !== undefined)
      throw new PlugboardError('INVALID_ARGUMENTS', 'The rule does not allow this call', {
        hint:
          stronger === undefined
            ? 'Write a rule that matches the tool and the arguments of this call.'
            : `Remove the stronger rule first: ${stronger.reason}.`,
      });
    await allowAlways(this.#core.home, known.spec, rule);
  }

  /** Returns false if there is no such rule. */
  async remove(list: RuleList, rule: string, owner: RuleOwner = {}): Promise<boolean> {
    const { home } = this.#core;
    let isFound = false;
    await change(home.config, { home }, (root) => {
      const path = pathOf(list, owner, root);
      const found = valueAt(root, path);
      const rules = Array.isArray(found) ? found : [];
      isFound = rules.includes(rule);
      return isFound ? { path, value: rules.filter((each) => each !== rule) } : undefined;
    });
    return isFound;
  }

  #tools(): readonly Known[] {
    const { catalog, pool } = this.#core;
    return catalog.snapshot.tools.flatMap((tool) => {
      const spec = pool.get(tool.server)?.spec;
      return spec === undefined ? [] : [{ tool, spec }];
    });
  }

  #find({ server, tool: name }: RuleCall): Known | undefined {
    return this.#tools().find(({ tool }) => tool.server === server && tool.tool === name);
  }

  #subjectOf({ tool, spec }: Known, args: unknown): RuleSubject {
    return { arguments: args, inputSchema: tool.inputSchema, ...pathPlace(spec, this.#core) };
  }

  #judged({ tool, spec }: Known, args?: unknown): Judged {
    const { catalog, config, approvals } = this.#core;
    return {
      tool,
      spec,
      names: catalog.snapshot.ruleNames(tool),
      settings: config.settings,
      sessionAllows: new Set(),
      alwaysAllows: approvals.always,
      arguments: args,
      started: this.#core,
    };
  }
}

/** Rules that allow are for the person's own servers, or for those of one project or plugin. */
function isSameOwner(spec: ServerSpec, asked: ServerSpec | undefined): boolean {
  if (asked === undefined) return !isForeign(spec);
  return isForeign(spec) === isForeign(asked) && entryOwner(spec) === entryOwner(asked);
}

function withAllowed(settings: Settings, spec: ServerSpec, rule: string): Settings {
  const path = allowPath(spec, settings);
  const found = valueAt(settings, path);
  const rules = [...(Array.isArray(found) ? found : []), rule];
  // The path exists in the type of settings: `allowPath` names one of its lists of rules.
  return withValue(settings, path, rules) as Settings;
}

function withValue(value: unknown, [key, ...rest]: readonly string[], member: unknown): unknown {
  if (key === undefined) return member;
  const record = isRecord(value) ? value : {};
  return { ...record, [key]: withValue(record[key], rest, member) };
}

function pathOf(list: RuleList, { project, plugin }: RuleOwner, root: unknown): readonly string[] {
  if (project === undefined && plugin === undefined) return ['permissions', list];
  if (list !== 'allow')
    throw new PlugboardError('USAGE', 'Only rules that allow belong to a project or plugin', {
      hint: 'Add it to your own rules, which apply to all servers.',
    });
  if (plugin !== undefined) return ['plugins', plugin, 'permissions', list];
  const folder = project ?? '';
  return ['projects', projectKey(valueAt(root, ['projects']), [folder]) ?? folder, 'permissions', list];
}

/** @throws PlugboardError CONFIG_INVALID, with the position. */
function checkRule(rule: string): void {
  const parsed = parseRule(rule);
  if ('fault' in parsed) throw invalidRule(parsed.fault);
}

/** The position is a detail, for the field that the rule was typed into. */
function invalidRule({ message, hint, at }: RuleFault): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `The rule is invalid: ${message}`, {
    hint,
    detail: { place: { at } },
  });
}
