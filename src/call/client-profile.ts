/** Compiles a profile of `config.json`: which servers and tools its clients have, and the rules for their calls. */

import picomatch from 'picomatch';
import { plainName } from '../catalog/tool-names.ts';
import type { Budget, Permissions, Profile, ProfileSearch, Settings } from '../config/entry.ts';
import type { ProfileChain } from '../config/profiles.ts';
import { defined } from '../lib/defined.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { ruleMatcher, type Spellings } from '../policy/approval.ts';
import { contentDenial, isServerRule } from './approve-content.ts';

/** A profile for one version of the configuration, together with all profiles that it extends. */
export interface ClientProfile {
  /** The settings, with the rules of the profile added to `permissions`, and its own `deduplicate`. */
  readonly settings: Settings;
  /** The stricter mode of the chain; undefined if none is set. */
  readonly approvals: 'client' | 'enforce' | undefined;
  readonly search: ProfileSearch;
  readonly budgets: readonly Budget[];
  /** How definitions are listed: as the nearest profile of the chain sets it. */
  readonly definitions: Profile['definitions'];
  /** How long the clients wait for a call before it goes on as a task: as the nearest profile of the chain sets it. */
  readonly backgroundAfter: number | undefined;
  /** Whether the clients have `run`: as the nearest profile of the chain sets it. */
  readonly codeMode: Profile['codeMode'];
  /** True if the clients have a tool. */
  offers(server: string, names: Spellings): boolean;
  /** False if the clients have no tool of a server, whatever its tools are called. */
  mayOffer(server: string): boolean;
  /** True if the clients have a whole server: its resources, prompts, extensions, instructions and log messages. */
  offersAll(server: string): boolean;
  /** True if a tool is listed without a search. */
  alwaysLoads(names: Spellings): boolean;
}

/**
 * Compiles a chain. Every member of it restricts: a tool must match all lists of servers and tools, all rules apply
 * together, and the stricter approval mode is used. Only `search`, `definitions`, `deduplicate`, `backgroundAfter` and
 * `codeMode` are those of the nearest profile that sets them.
 */
export function compileProfile(chain: ProfileChain, settings: Settings): ClientProfile {
  const servers = chain.flatMap(({ servers: globs }) =>
    globs === undefined ? [] : [globs.map(serverMatcher)],
  );
  const lists = chain.flatMap(({ tools }) => (tools === undefined ? [] : [tools]));
  const matchers = lists.map((rules) => rules.map(ruleMatcher));
  const permissions = withRules(settings.permissions, chain);
  const search = searchOf(chain);
  const deduplicate = chain.find((each) => each.deduplicate !== undefined)?.deduplicate;
  const always = (search.alwaysLoad ?? []).map(ruleMatcher);
  const hasServer = (server: string): boolean =>
    servers.every((globs) => globs.some((matches) => matches(server)));
  const isOffered = (server: string, names: Spellings): boolean =>
    hasServer(server) && matchers.every((rules) => rules.some((matches) => matches(names)));
  const whole = new Map<string, boolean>();
  return {
    settings: { ...settings, ...defined({ permissions, deduplicate }) },
    approvals: modeOf(chain),
    search,
    budgets: chain.flatMap(({ budgets = [] }) => budgets),
    definitions: chain.find(({ definitions }) => definitions !== undefined)?.definitions,
    backgroundAfter: chain.find(({ backgroundAfter }) => backgroundAfter !== undefined)?.backgroundAfter,
    codeMode: chain.find(({ codeMode }) => codeMode !== undefined)?.codeMode,
    offers: isOffered,
    mayOffer: (server) =>
      hasServer(server) && lists.every((rules) => rules.some((rule) => mayMatch(rule, server))),
    offersAll: (server) =>
      getOrMake(
        whole,
        server,
        () =>
          hasServer(server) &&
          lists.every((rules) => rules.some((rule) => isServerRule(rule, server))) &&
          contentDenial(permissions ?? {}, server) === undefined,
      ),
    alwaysLoads: (names) => always.some((matches) => matches(names)),
  };
}

/** The profile of clients whose profile cannot be used: it offers nothing. */
export function emptyProfile(settings: Settings): ClientProfile {
  return compileProfile([{ servers: [] }], settings);
}

function serverMatcher(glob: string): (server: string) => boolean {
  // A name may have a slash, which a glob's star does not match.
  if (glob === '*') return () => true;
  const matches = picomatch(glob, { dot: true });
  return (server) => server === glob || matches(server);
}

const LONG_PREFIX = 'mcp__';
/** Negations, and everything from the first character with a meaning in globs. */
const GLOB = /[*?[\](){}!@+\\].*$/s;

/** False if the text before a rule's first wildcard belongs to another server. */
function mayMatch(rule: string, server: string): boolean {
  const short = rule.startsWith(LONG_PREFIX) ? rule.slice(LONG_PREFIX.length) : rule;
  const literal = short.replace(GLOB, '');
  const prefix = plainName(server, '', 'gateway');
  return literal.startsWith(prefix) || prefix.startsWith(literal);
}

/** Joins the rules of the settings and of the chain; undefined if there are none. */
function withRules(own: Permissions | undefined, chain: ProfileChain): Permissions | undefined {
  const rules = chain.flatMap(({ rules: each }) => (each === undefined ? [] : [each]));
  if (rules.length === 0) return own;
  const all = [...(own === undefined ? [] : [own]), ...rules];
  const joined = (key: keyof Permissions): readonly string[] => all.flatMap((each) => each[key] ?? []);
  return {
    allow: joined('allow'),
    ask: joined('ask'),
    deny: joined('deny'),
    readOnly: joined('readOnly'),
  };
}

function modeOf(chain: ProfileChain): ClientProfile['approvals'] {
  const modes = chain.flatMap(({ approvals }) => approvals ?? []);
  return modes.includes('enforce') ? 'enforce' : modes[0];
}

function searchOf(chain: ProfileChain): ProfileSearch {
  const search: Profile['search'] = chain.find((each) => each.search !== undefined)?.search;
  if (search === undefined) return {};
  return typeof search === 'object' ? search : { mode: search };
}
