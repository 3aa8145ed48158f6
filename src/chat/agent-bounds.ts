/**
 * Limits what a caller of the `agent` tool may choose to what the person configured (A27).
 *
 * The caller is a model, which can be misled. A model must be one that the person configured, selected by name; a
 * folder must be inside the gateway's roots; a profile sets minimum restrictions: arguments can make a thread stricter,
 * never less strict. Everything is checked for every turn, so a thread created under other settings has no more rights
 * than a new one.
 */

import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Profile } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isInside } from '../lib/inside.ts';
import { nearest } from '../lib/nearest.ts';
import type { ThreadSettings } from './agent-request.ts';

/** Profile of threads that do not name one. */
const DEFAULT_PROFILE = 'default';

export interface AgentBoundsOptions {
  /** The model that the person gave to the gateway. */
  readonly model: string;
  readonly profiles: () => Promise<Readonly<Record<string, Profile>>>;
  /** Folders that threads may work in, including their subfolders. */
  readonly roots: () => Promise<readonly string[]>;
}

/** Settings for a turn of a thread, after applying the person's limits. */
export interface BoundSettings extends Omit<ThreadSettings, 'tools' | 'profile' | 'model' | 'cwd'> {
  readonly model: string;
  /** Path with all symbolic links resolved. */
  readonly cwd: string | undefined;
  /** A tool must match each of these lists. */
  readonly tools: readonly (readonly string[])[];
  /** The profile whose servers and rules apply, if it has any. */
  readonly profile?: string;
}

export class AgentBounds {
  readonly #options: AgentBoundsOptions;

  constructor(options: AgentBoundsOptions) {
    this.#options = options;
  }

  /** Rejects with INVALID_ARGUMENTS if a caller requests more than it may have. */
  async apply(asked: ThreadSettings): Promise<BoundSettings> {
    const profiles = await this.#options.profiles();
    const profile = profileOf(profiles, asked.profile);
    const { tools, sandbox, approvalPolicy, contextTokens, maxSteps, toolSearch } = asked;
    const instructions = [profile.developerInstructions, asked.developerInstructions].filter(
      (text) => text !== undefined,
    );
    return {
      model: this.#model(asked.model, profile, profiles),
      cwd: asked.cwd === undefined ? undefined : await this.folder(asked.cwd),
      tools: [profile.tools, tools].filter((list) => list !== undefined),
      approvalPolicy: [profile.approvalPolicy, approvalPolicy].includes('never') ? 'never' : 'ask',
      sandbox: [profile.sandbox, sandbox].includes('read-only') ? 'read-only' : 'inherit',
      ...(restricts(profile) ? { profile: asked.profile ?? DEFAULT_PROFILE } : {}),
      ...defined({
        contextTokens: least(profile.contextTokens, contextTokens),
        maxSteps: least(profile.maxSteps, maxSteps),
        toolSearch,
        // A caller cannot replace the profile's own text.
        baseInstructions: profile.baseInstructions ?? asked.baseInstructions,
        compactPrompt: profile.compactPrompt ?? asked.compactPrompt,
        developerInstructions: instructions.length === 0 ? undefined : instructions.join('\n\n'),
      }),
    };
  }

  /** Returns the real path of a folder inside the roots. A folder outside gets the same error as a missing one. */
  async folder(path: string): Promise<string> {
    const roots = await this.#options.roots();
    const found = await realpath(path).catch(() => undefined);
    const isFolder = found !== undefined && (await stat(found).catch(() => undefined))?.isDirectory();
    if (found !== undefined && isFolder) {
      for (const root of roots) {
        const real = await realpath(fromHome(root)).catch(() => undefined);
        if (real !== undefined && isInside(found, real)) return found;
      }
    }
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      `cwd: ${JSON.stringify(path)} is outside the folders of this gateway`,
      { hint: 'Leave it out, or give a folder inside the project; "agentRoots" in config.json adds others.' },
    );
  }

  /** Accepts a profile's name, or exactly the text the person configured: a url from the caller is never opened. */
  #model(asked: string | undefined, profile: Profile, profiles: Readonly<Record<string, Profile>>): string {
    const own = profile.model ?? this.#options.model;
    if (asked === undefined) return own;
    const named = Object.hasOwn(profiles, asked) ? profiles[asked]?.model : undefined;
    const written = [this.#options.model, ...Object.values(profiles).map(({ model }) => model)];
    const model = named ?? (written.includes(asked) ? asked : undefined);
    const names = Object.keys(profiles).filter((name) => profiles[name]?.model !== undefined);
    if (model === undefined) {
      throw new PlugboardError(
        'INVALID_ARGUMENTS',
        `model: ${JSON.stringify(asked)} is not the name of a model that is configured here`,
        { hint: `Leave it out${names.length === 0 ? '' : `, or name a profile: ${names.join(', ')}`}.` },
      );
    }
    if (profile.model === undefined || profile.model === model) return model;
    throw new PlugboardError('INVALID_ARGUMENTS', 'model: the profile has a model of its own', {
      hint: 'Leave the model out, or name another profile.',
    });
  }
}

/** True if a profile has restrictions of clients, which apply to the threads of an agent too. */
function restricts({ extends: base, servers, rules }: Profile): boolean {
  return base !== undefined || servers !== undefined || rules !== undefined;
}

function profileOf(profiles: Readonly<Record<string, Profile>>, asked: string | undefined): Profile {
  const name = asked ?? DEFAULT_PROFILE;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  if (asked === undefined) return {};
  const [near] = nearest(name, Object.keys(profiles));
  throw new PlugboardError('INVALID_ARGUMENTS', `There is no profile ${JSON.stringify(name)}`, {
    hint: near === undefined ? 'Profiles are in config.json, under "profiles".' : `Did you mean ${near}?`,
  });
}

function least(...limits: readonly (number | undefined)[]): number | undefined {
  const set = limits.filter((limit) => limit !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
}

function fromHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}
