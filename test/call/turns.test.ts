import { expect, it } from 'vitest';
import { createSession, type Session } from '../../src/call/session.ts';
import { SessionQueue } from '../../src/call/session-queue.ts';

const askable = (id: string): Session => createSession(id, { elicit: () => ({ action: 'decline' }) });
const mute = (id: string): Session => createSession(id, {});

it('CON-11: calls of one session run concurrently, those of another wait for the last of them', () => {
  const turns = new SessionQueue();
  const [a, b] = [askable('a'), askable('b')];
  const admitted: string[] = [];
  expect([turns.tryEnter(a), turns.tryEnter(a), turns.tryEnter(b)]).toEqual([true, true, false]);
  turns.wait(b, () => admitted.push('b'));
  turns.leave(a);
  expect(admitted).toEqual([]);
  turns.leave(a);
  expect(admitted).toEqual(['b']);
});

it('CON-11: a waiting session precedes one that returns', () => {
  const turns = new SessionQueue();
  const [a, b] = [askable('a'), askable('b')];
  const admitted: string[] = [];
  turns.tryEnter(a);
  turns.wait(b, () => admitted.push('b'));
  expect(turns.tryEnter(a)).toBe(false);
  turns.wait(a, () => admitted.push('a'));
  turns.leave(a);
  expect(admitted).toEqual(['b']);
  turns.leave(b);
  expect(admitted).toEqual(['b', 'a']);
});

it('CON-11: sessions that cannot be asked anything never wait for each other, and for one that can', () => {
  const turns = new SessionQueue();
  const [a, b, c] = [mute('a'), mute('b'), askable('c')];
  const admitted: string[] = [];
  expect([turns.tryEnter(a), turns.tryEnter(b), turns.tryEnter(c)]).toEqual([true, true, false]);
  turns.wait(c, () => admitted.push('c'));
  turns.leave(a);
  turns.leave(b);
  expect({ admitted, another: turns.tryEnter(a) }).toEqual({ admitted: ['c'], another: false });
});

it('CON-11: a session that stops waiting lets the next one in', () => {
  const turns = new SessionQueue();
  const [a, b, c] = [mute('a'), askable('b'), mute('c')];
  const admitted: string[] = [];
  turns.tryEnter(a);
  const giveUp = turns.wait(b, () => admitted.push('b'));
  turns.wait(c, () => admitted.push('c'));
  giveUp();
  expect(admitted).toEqual(['c']);
});
