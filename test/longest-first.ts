/** Runs the files that take longest first: at the end of a run no worker is left alone with one of them. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By the time that they take on two cores, longest first; each more than 15 s. */
export const LONGEST: readonly string[] = [
  'conformance/client-auth',
  'package',
  'surfaces/surfaces',
  'cli/real-agents',
  'agents/first-request',
  'conformance/client',
  'docs/snippets',
  'lock/update',
  'lock/lock',
  'cluster/cluster',
  'policy/rules-agree',
  'cluster/balanced',
  'attacks/clone',
  'workspace/git',
  'faithful/differential',
  'agents/search',
  'conformance/server',
  'agents/sharing',
  'agents/profiles',
  'daemon/soak',
  'host/chaos',
  'daemon/commands',
  'host/crash',
  'call/large',
  'fuzz/fuzz',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? LONGEST.length : place;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
