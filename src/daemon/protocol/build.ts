/** Compares two builds: the daemon always runs the newest build that attached to it. */

export interface Build {
  readonly version: string;
  /** Differs whenever the program on disk differs. */
  readonly id: string;
  /** Modification time of the program, milliseconds since the epoch. */
  readonly madeAt: number;
}

/** True if `a` should replace `b`. Never true both ways, so two builds cannot replace each other forever. */
export function isNewer(a: Build, b: Build): boolean {
  const order = compareVersions(a.version, b.version);
  if (order !== 0) return order > 0;
  return a.id !== b.id && a.madeAt > b.madeAt;
}

/** Compares by numbers; a release is newer than its pre-releases. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let at = 0; at < 3; at++) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.tag === right.tag) return 0;
  if (left.tag === '' || right.tag === '') return left.tag === '' ? 1 : -1;
  return left.tag.localeCompare(right.tag, 'en', { numeric: true });
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly tag: string } {
  const [release = '', ...tag] = version.split('+', 1)[0]?.split('-') ?? [];
  return { numbers: release.split('.').map((part) => Number(part) || 0), tag: tag.join('-') };
}
