/** Profiles and clients of `config.json`: inheritance, and the problems that need more than one value to see. */

import { own } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { CLIENT_KEYS, PROFILE_KEYS, RULE_KEYS } from './config-keys.ts';
import type { Profile, Settings } from './entry.ts';
import { type Fault, fatalFault, type JsonPath, showPath } from './fault.ts';
import type { AnyKeys } from './kind.ts';

/** In `brokenClients`: the clients are unknown, so every one is refused. */
export const EVERY_CLIENT = '*';

/** Why a profile cannot be used. */
export interface ProfileProblem {
  readonly message: string;
  readonly hint?: string;
}

/** A profile and the profiles that it extends, the profile itself first. */
export type ProfileChain = readonly Profile[];

type Profiles = Pick<Settings, 'profiles' | 'brokenProfiles'>;

/** Returns the chain of a profile, or why it cannot be used: then its clients are refused. */
export function profileChain(settings: Profiles, name: string): ProfileChain | ProfileProblem {
  const chain: Profile[] = [];
  const seen = new Set<string>();
  for (let next: string | undefined = name; next !== undefined; ) {
    if (seen.has(next)) return cycle([...seen, next]);
    const profile: Profile | undefined = own(settings.profiles, next);
    if (settings.brokenProfiles?.includes(next))
      return { message: `The profile ${JSON.stringify(next)} in config.json has a problem` };
    if (profile === undefined) return unknownProfile(settings, next);
    seen.add(next);
    chain.push(profile);
    next = profile.extends;
  }
  return chain;
}

export function isChain(found: ProfileChain | ProfileProblem): found is ProfileChain {
  return Array.isArray(found);
}

/** Returns the problem of a name that no profile has. */
export function unknownProfile({ profiles = {} }: Profiles, name: string): ProfileProblem {
  const [near] = nearest(name, Object.keys(profiles));
  return {
    message: `There is no profile called ${JSON.stringify(name)}`,
    hint:
      near === undefined ? 'Add it to "profiles" in config.json.' : `Did you mean ${JSON.stringify(near)}?`,
  };
}

function cycle(names: readonly string[]): ProfileProblem {
  const [last = ''] = names.slice(-1);
  const shown = names.slice(names.indexOf(last)).map((name) => JSON.stringify(name));
  return {
    message: `The profiles extend each other: ${shown.join(' extends ')}`,
    hint: 'Remove one "extends".',
  };
}

/** Checks profiles and clients against each other. A client or profile with a fault is refused, the others work. */
export function checkProfiles(settings: Settings): {
  readonly settings: Settings;
  readonly faults: readonly Fault[];
} {
  const { profiles, clients } = settings;
  if (profiles === undefined && clients === undefined) return { settings, faults: [] };
  const faults: Fault[] = [];
  const brokenProfiles = new Set(settings.brokenProfiles);
  for (const [name, profile] of Object.entries(profiles ?? {})) {
    const path = ['profiles', name];
    const unknown = [
      ...unknownKeys(profile, PROFILE_KEYS, path),
      ...unknownKeys(profile.rules ?? {}, RULE_KEYS, [...path, 'rules']),
    ];
    if (unknown.length > 0) brokenProfiles.add(name);
    faults.push(...unknown);
  }
  const checked = { ...settings, brokenProfiles: [...brokenProfiles] };
  for (const [name, { extends: base }] of Object.entries(profiles ?? {})) {
    const chain = base === undefined ? [] : profileChain(checked, name);
    // A profile that extends a broken one is reported once, at the broken one.
    if (isChain(chain) || brokenProfiles.has(name) || (base !== undefined && brokenProfiles.has(base)))
      continue;
    faults.push(fatalFault(['profiles', name, 'extends'], chain.message, chain.hint));
  }
  const refused = checkClients(checked, (fault) => faults.push(fault));
  return {
    settings: {
      ...settings,
      ...(brokenProfiles.size === 0 ? {} : { brokenProfiles: [...brokenProfiles] }),
      ...(refused.size === 0 ? {} : { brokenClients: [...refused] }),
    },
    faults,
  };
}

/** Returns the names of the clients that are refused. */
function checkClients(settings: Settings, report: (fault: Fault) => void): ReadonlySet<string> {
  const refused = new Set(settings.brokenClients);
  const byToken = new Map<string, string>();
  let local: string | undefined;
  const refuse = (names: readonly string[], path: JsonPath, message: string, hint: string): void => {
    for (const name of names) refused.add(name);
    report(fatalFault(path, message, hint));
  };
  for (const [name, client] of Object.entries(settings.clients ?? {})) {
    const path = ['clients', name];
    for (const fault of unknownKeys(client, CLIENT_KEYS, path)) {
      refused.add(name);
      report(fault);
    }
    const token = client.token?.toLowerCase();
    const other = token === undefined ? undefined : byToken.get(token);
    if (other !== undefined) {
      const message = `The clients ${JSON.stringify(other)} and ${JSON.stringify(name)} have the same token`;
      refuse([other, name], [...path, 'token'], message, 'Give each client its own token.');
    } else if (token !== undefined) byToken.set(token, name);
    if (client.local === true && local !== undefined) {
      const message = `The clients ${JSON.stringify(local)} and ${JSON.stringify(name)} are both local`;
      refuse([local, name], [...path, 'local'], message, 'Keep "local" in one of them.');
    } else if (client.local === true) local = name;
    const { profile } = client;
    const chain = profile === undefined ? [] : profileChain(settings, profile);
    // A problem inside the profiles is reported there.
    if (!isChain(chain) && own(settings.profiles, profile ?? '') === undefined)
      refuse([name], [...path, 'profile'], chain.message, chain.hint ?? 'Name another profile.');
  }
  return refused;
}

/** Keys that people expect in a profile or client, with the reason why there are none. */
const NOT_KEYS: ReadonlyMap<string, string> = new Map([
  ['manage', 'Remove it: a token that calls tools never manages. Run plugboard dashboard to manage.'],
  ['accounts', 'Remove it: clients share the logins of servers.'],
]);

/** Returns a fault for each unknown key: a misspelt restriction must not mean "everything". */
function unknownKeys(value: object, known: AnyKeys, path: JsonPath): readonly Fault[] {
  return Object.keys(value).flatMap((key) => {
    if (known.has(key) || key.startsWith('x-')) return [];
    const message = `${showPath([...path, key])} is not a known key, so clients with it are refused`;
    const [near] = nearest(key, known.keys());
    const hint =
      NOT_KEYS.get(key) ?? (near === undefined ? 'Remove it.' : `Did you mean ${JSON.stringify(near)}?`);
    return [fatalFault([...path, key], message, hint, 'key')];
  });
}
