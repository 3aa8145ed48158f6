/** Normalizes media types and maps them to file extensions. */

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

/** Returns the type without parameters, in lower case: `Image/JPG; q=1` is `image/jpeg`. */
export function mediaType(written: string): string {
  const bare = (written.split(';', 1)[0] ?? '').trim().toLowerCase();
  return Object.hasOwn(ALIASES, bare) ? (ALIASES[bare] ?? bare) : bare;
}

/** Returns a file extension: `image/svg+xml` → `svg`; `bin` if the type does not define one. */
export function fileEnding(written: string): string {
  const type = mediaType(written);
  if (Object.hasOwn(ENDINGS, type)) return ENDINGS[type] ?? 'bin';
  return /^[a-z]+\/(?:x-)?([a-z0-9]{1,16})(?:$|\+)/.exec(type)?.[1] ?? 'bin';
}
