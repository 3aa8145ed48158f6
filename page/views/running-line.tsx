/** The progress of a running call, or the question that it waits for. */

import type { JSX } from 'preact';
import type { CallReport } from '../api-types.ts';
import { useApp } from '../app.ts';
import { runningText } from '../call-state.ts';
import { Waiting } from '../ui/bits.tsx';
import { PlaceLink } from '../ui/place-link.tsx';

export function RunningLine({ call }: { readonly call: CallReport | undefined }): JSX.Element {
  const { store } = useApp();
  if (call === undefined || !store.waitingCalls.value.has(call.id))
    return <Waiting>{runningText(call)}</Waiting>;
  return (
    <Waiting>
      Waiting for your answer under <PlaceLink to={['questions']}>Questions</PlaceLink> …
    </Waiting>
  );
}
