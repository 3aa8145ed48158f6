/** Which paths are git's own: whoever writes there decides what git runs the next time. */

/** Characters that some file systems drop when they compare names (HFS+), so that `.g\u200cit` opens `.git`. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** `.git` in any spelling that some file system takes for it, `.git::$INDEX_ALLOCATION` and the short name too. */
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
