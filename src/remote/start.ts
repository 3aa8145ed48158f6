/** A session with the daemon of a home, whether or not it runs yet. */

import type { Home } from '../config/home.ts';
import { type Attached, attach } from './attach.ts';
import type { Hello } from './hello.ts';
import type { Place } from './place.ts';

/** A session with the daemon of this home, which is started if it does not run. */
export async function attachOrStart(
  home: Home,
  place: Place,
  env: NodeJS.ProcessEnv,
  hello: Hello,
): Promise<Attached> {
  const attached = await attach(place.record, hello);
  if (attached !== undefined) return attached;
  // What starts processes takes memory for as long as a relay lives: only the first one has to read it.
  const { startAndAttach } = await import('./launch.ts');
  return startAndAttach(home, place, env, hello);
}
