/** Detects a program that was started for stdio but serves over HTTP, by the address it prints. */

/** How much of a line is quoted. */
const MAX_QUOTED_CHARS = 200;
const WORD = String.raw`\b(?:listen(?:s|ing)?|runs|running|serv(?:es|ing)|started|available|ready)\b`;
const REST = String.raw`[^\s"'<>()[\]{},;]`;
const ADDRESS = String.raw`https?:\/\/(?:\[[\da-f:]+\]${REST}*|${REST}+)`;
/** `Server listening on http://localhost:3000`, `http://localhost:3000 is ready`. */
const WITH_ADDRESS = new RegExp(`${WORD}.*?(${ADDRESS})|(${ADDRESS}).*?${WORD}`, 'i');
/** `Listening on port 3000`, `listening at :3000`, `Server running on 0.0.0.0:3000`. */
const WITH_PORT = new RegExp(String.raw`${WORD}\s+(?:on|at)\s+(?:port\s+|[\w.]*:)(\d{2,5})\b`, 'i');
/** A wildcard listening address, to which clients cannot connect. */
const EVERYWHERE = /^(https?:\/\/)(?:0\.0\.0\.0|\[::\])/;

export interface ListeningLine {
  readonly line: string;
  readonly url: string;
}

/** Returns the first line with an address that the program listens on. */
export function listeningLine(text: string): ListeningLine | undefined {
  for (const line of text.split('\n')) {
    const address = WITH_ADDRESS.exec(line);
    const port = address === null ? WITH_PORT.exec(line)?.[1] : undefined;
    const found =
      address?.[1] ?? address?.[2] ?? (port === undefined ? undefined : `http://localhost:${port}`);
    if (found === undefined) continue;
    const url = found.replace(/[.:]+$/, '').replace(EVERYWHERE, '$1127.0.0.1');
    return { line: line.trim().slice(0, MAX_QUOTED_CHARS), url };
  }
  return undefined;
}
