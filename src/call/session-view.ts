/** The catalog, the search and the settings that one session sees: those of its profile, else the host's. */

import type { Snapshot } from '../catalog/catalog.ts';
import type { Deferral } from '../catalog/deferral.ts';
import type { Search } from '../catalog/search-view.ts';
import type { Budget, CodeModeSetting, DefinitionsSetting, Settings } from '../config/entry.ts';
import { reasonWithoutRule, type Spellings } from '../policy/approval.ts';
import type { CallContext } from './call.ts';
import type { Session } from './session.ts';

/** The profile of a session, always for the current configuration. */
export interface SessionProfile {
  readonly name: string;
  readonly settings: Settings;
  readonly approvals: 'client' | 'enforce' | undefined;
  readonly budgets: readonly Budget[];
  /** How definitions are listed; undefined: as the host lists them. */
  readonly definitions: DefinitionsSetting | undefined;
  /** How long its clients wait for a call before it goes on as a task. */
  readonly backgroundAfter: number | undefined;
  /** Whether there is `run`; undefined: as the host sets it. */
  readonly codeMode: CodeModeSetting | undefined;
  /** The tools of the profile, as if there were no others. */
  readonly snapshot: Snapshot;
  readonly deferral: () => Deferral;
  readonly search: Search;
  offers(server: string, names: Spellings): boolean;
  offersAll(server: string): boolean;
}

type Viewer = Pick<Session, 'profile'>;

export function snapshotFor({ catalog }: Pick<CallContext, 'catalog'>, { profile }: Viewer): Snapshot {
  return profile === undefined ? catalog.snapshot : profile.snapshot;
}

export function deferralFor({ deferral }: Pick<CallContext, 'deferral'>, { profile }: Viewer): Deferral {
  return profile === undefined ? deferral() : profile.deferral();
}

export function searchFor({ search }: Pick<CallContext, 'search'>, { profile }: Viewer): Search {
  return profile === undefined ? search : profile.search;
}

export function settingsFor(context: Pick<CallContext, 'settings'>, { profile }: Viewer): Settings {
  return profile === undefined ? context.settings() : profile.settings;
}

/** Returns the stricter of the session's own approval mode and that of its profile. */
export function approvalsFor({
  approvals,
  profile,
}: Pick<Session, 'approvals' | 'profile'>): Session['approvals'] {
  return profile?.approvals === 'enforce' ? 'enforce' : approvals;
}

/** Returns the reason of a refusal as the caller may learn it: without the rule, for a session with a profile. */
export function reasonFor({ profile }: Viewer, refused: Parameters<typeof reasonWithoutRule>[0]): string {
  return profile === undefined ? refused.reason : reasonWithoutRule(refused);
}

/** True if a session has the resources, prompts and extensions of a server. */
export function offersContent({ profile }: Viewer, server: string): boolean {
  return profile === undefined || profile.offersAll(server);
}
