/** A gate that a script waits for and a test opens. */

export interface Gate {
  /** Resolves when the gate is opened. */
  readonly opened: Promise<void>;
  /** Lets everything that waits continue. */
  open(): void;
}

/**
 * Creates a closed gate.
 *
 * @returns The gate: `opened` resolves after `open()`.
 * @example
 * const gate = createGate();
 * const server = scriptedServer();
 * server.tool('slow', async () => {
 *   await gate.opened;
 *   return 'done';
 * });
 * gate.open();
 */
export function createGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
