/** State of a view that stays while another view is shown, such as a filter. */

import { type Signal, signal } from '@preact/signals';
import { useApp } from './app.ts';

export type KeptState = Map<string, Signal<unknown>>;

/** Returns the signal with this key; it is created with `initial` when it is first used. */
export function useKept<Value>(key: string, initial: Value): Signal<Value> {
  const { kept } = useApp();
  const found = kept.get(key) ?? signal<unknown>(initial);
  kept.set(key, found);
  return found as Signal<Value>;
}
