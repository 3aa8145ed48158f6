/** Opens the store of approvals, loaded on demand because it hashes files of the project. */

import type { Trust } from '../policy/trust.ts';
import type { Context } from './cli-command.ts';

export async function consentStore({ home, env }: Pick<Context, 'home' | 'env'>): Promise<Trust> {
  const { openTrust } = await import('../policy/trust.ts');
  return openTrust({ home, env });
}
