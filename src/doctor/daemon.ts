/** Checks whether the shared daemon, if it is running, responds and has this version. */

import { reportDaemons } from '../daemon/client/control.ts';
import { asPlugboardError } from '../errors.ts';
import { readVersion } from '../lib/version.ts';
import { type Check, type DoctorContext, plural } from './check.ts';

export async function checkDaemon({ home }: Pick<DoctorContext, 'home'>): Promise<Check[]> {
  try {
    const daemons = await reportDaemons(home);
    if (daemons.length === 0) {
      return [
        { id: 'daemon', ok: true, message: 'The daemon is not running; it is started when it is needed' },
      ];
    }
    const ours = readVersion();
    return daemons.map(({ pid, version, sessions }): Check => {
      const message = `The daemon is running (pid ${pid}, version ${version}) for ${plural(sessions.length, 'session')}`;
      if (version === ours) return { id: 'daemon', ok: true, message };
      return {
        id: 'daemon',
        ok: false,
        level: 'advice',
        message: `${message}; this is version ${ours}`,
        hint: 'plugboard daemon stop ends it; the next agent starts the newer one.',
      };
    });
  } catch (thrown) {
    const { message, hint = 'plugboard daemon stop ends it.' } = asPlugboardError(thrown);
    return [{ id: 'daemon', ok: false, message: `The daemon does not answer: ${message}`, hint }];
  }
}
