/** Detects paths inside `.git`: files there determine which programs git runs. */

/** Characters that some file systems ignore in names (HFS+), so that `.g\u200cit` opens `.git`. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Detects `.git` in any spelling that a file system accepts, including `.git::$INDEX_ALLOCATION` and the short name.
 */
export function isGitInternal(path: string): boolean {
  return path.split(/[/\\]/).some((part) => {
    const name = part
      .replace(IGNORED, '')
      .replace(/:.*$/s, '')
      .replace(/[. ]+$/, '')
      .toLowerCase();
    return name === '.git' || name === 'git~1';
  });
}
