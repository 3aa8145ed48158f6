/** Checks where logins are stored. */

import { keyringSecrets } from '../secrets/keyring.ts';
import { STORE_VARIABLE } from '../secrets/store.ts';
import type { Check, DoctorContext } from './check.ts';

/** A key that is never set: the check only needs a response. */
const NOBODYS = 'doctor';

export async function checkKeyring({ home, env }: Pick<DoctorContext, 'home' | 'env'>): Promise<Check> {
  const inFile = `logins are stored in ${home.credentials} (mode 0600)`;
  if (env[STORE_VARIABLE] === 'file') {
    return { id: 'keyring', ok: true, message: `${STORE_VARIABLE} is set: ${inFile}` };
  }
  const answers = await keyringSecrets(home.dir)
    .get(NOBODYS)
    .then(
      () => true,
      () => false,
    );
  if (answers) return { id: 'keyring', ok: true, message: "Logins are kept in the system's keyring" };
  return {
    id: 'keyring',
    ok: true,
    message: `No system keyring; ${inFile}`,
    hint: 'On a desktop, unlock the keyring or start its service; on a headless machine this is normal.',
  };
}
