/** Media types as servers write them: which one is meant, and the ending of a file that has it. */

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'application/gzip': 'gz',
  'application/octet-stream': 'bin',
  'image/jpeg': 'jpg',
  'image/vnd.microsoft.icon': 'ico',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'video/quicktime': 'mov',
};
const ALIASES: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg', 'audio/mp3': 'audio/mpeg' };

/** Without parameters, in lower case: `Image/JPG; q=1` is `image/jpeg`. */
export function mediaType(written: string): string {
  const bare = (written.split(';', 1)[0] ?? '').trim().toLowerCase();
  return Object.hasOwn(ALIASES, bare) ? (ALIASES[bare] ?? bare) : bare;
}

/** `image/svg+xml` → `svg`; `bin` where the type does not name one. */
export function fileEnding(written: string): string {
  const type = mediaType(written);
  if (Object.hasOwn(ENDINGS, type)) return ENDINGS[type] ?? 'bin';
  return /^[a-z]+\/(?:x-)?([a-z0-9]{1,16})(?:$|\+)/.exec(type)?.[1] ?? 'bin';
}
