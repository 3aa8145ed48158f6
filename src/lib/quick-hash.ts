/** A fast non-cryptographic hash for texts without an attacker: loading Node's hashes takes a tenth of a start. */

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const OTHER_PRIME = 0x5bd1e995;

/** Returns sixteen hexadecimal digits: FNV-1a and a second sum with another factor. */
export function quickHash(text: string): string {
  let first = OFFSET;
  let second = OFFSET ^ text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, PRIME);
    second = Math.imul(second ^ code, OTHER_PRIME);
    second ^= second >>> 15;
  }
  return [first, second].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
