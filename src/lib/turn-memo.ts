/** Keeps a result for one turn of the event loop: for a question to the system that many requests ask at the same time. */

/** Returns a function that asks once in each turn; what changes is seen in the next turn. */
export function onceInTurn<Result>(ask: () => Result): () => Result {
  let kept: { readonly result: Result } | undefined;
  return () => {
    if (kept === undefined) {
      kept = { result: ask() };
      setImmediate(() => {
        kept = undefined;
      });
    }
    return kept.result;
  };
}
