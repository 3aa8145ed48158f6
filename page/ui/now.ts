/** The current time as state, for texts such as "12 s" and "4:59 left". */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Returns the time, renewed every `ms` while the page is visible; pass 0 to stop it. */
export function useNow(ms: number): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (ms === 0) return undefined;
    now.value = Date.now();
    const timer = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now.value;
}
