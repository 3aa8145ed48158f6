/** Reserves stdout for the protocol: other output of the program and its libraries goes to stderr. */

type Write = typeof process.stdout.write;

/** The writer to the real stdout, for the protocol, and the function that restores it. */
export interface OwnedStdout {
  readonly write: (text: string) => boolean;
  release(): void;
}

/** `console.log` writes through `process.stdout.write` too, so this one place is enough. */
export function ownStdout(): OwnedStdout {
  const { stdout, stderr } = process;
  const original: Write = stdout.write;
  const diverted = ((...args: Parameters<Write>) => stderr.write(...args)) as Write;
  stdout.write = diverted;
  return {
    write: (text) => original.call(stdout, text),
    release() {
      if (stdout.write === diverted) stdout.write = original;
    },
  };
}
