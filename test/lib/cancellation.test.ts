import { expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { Cancellation, signalOf } from '../../src/lib/cancellation.ts';

const why = new PlugboardError('CANCELLED', 'no longer wanted');

it('CAL-1: notifies every listener once, with the first reason, whatever they do in the callback', () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  const left = (): void => void heard.push('left');
  cancellation.onCancel(() => void heard.push(cancellation.reason));
  cancellation.onCancel(left);
  cancellation.onCancel(() => {
    cancellation.cancel(new PlugboardError('TIMEOUT', 'too late'));
    heard.push(cancellation.reason);
  });
  cancellation.offCancel(left);
  const before = cancellation.isCancelled;
  cancellation.cancel(why);
  cancellation.cancel(new PlugboardError('TIMEOUT', 'again'));
  expect({ before, heard, reason: cancellation.reason }).toEqual({
    before: false,
    heard: [why, why],
    reason: why,
  });
});

it('CAL-1: its signal is one, made before or after it was cancelled', () => {
  const early = new Cancellation();
  const { signal } = early;
  early.cancel(why);
  const late = new Cancellation();
  late.cancel(why);
  expect([signal.reason, early.signal === signal, late.signal.aborted, late.signal.reason]).toEqual([
    why,
    true,
    true,
    why,
  ]);
});

it('CAL-1: returns the combined signal of both', () => {
  const cancellation = new Cancellation();
  const { signal } = new AbortController();
  expect([
    signalOf({ cancellation }) === cancellation.signal,
    signalOf({ signal }) === signal,
    signalOf({}),
  ]).toEqual([true, true, undefined]);
});
