/** What has to be kept around logins besides their secrets: locks, news of changes, notes, and logins that wait. */

import type { PendingLogin } from './pending.ts';

/** `login`: another person or other rights. `renewal`: the same login with newer tokens. */
export type Change = 'login' | 'renewal';

/** What is remembered about a server for the next login; no secret is in it. */
export type NoteKind = 'challenge' | 'unregistered';

/** By the key of a login. */
export interface LoginTraces {
  /** Whether changes of other processes are announced; if not, those who need them have to look. */
  readonly announces: boolean;
  /** Runs `work` while no one else changes this login. */
  locked<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Records a change and calls those who watch; a login is a renewal as well. */
  stamp(key: string, change: Change): Promise<void>;
  /** False if no login of this key was ever kept here; true also if that is unknown. */
  mayHave(key: string): boolean;
  /** Another text for each login, the same over renewals; undefined if only the login itself has it. */
  loginStamp(key: string): string | undefined;
  watch(key: string, change: Change, changed: () => void): () => void;
  note(key: string, kind: NoteKind, text: string): Promise<void>;
  noteOf(key: string, kind: NoteKind): Promise<string | undefined>;
  forgetNote(key: string, kind: NoteKind): Promise<void>;
  savePending(pending: PendingLogin): Promise<void>;
  /** Hands a pending login out once; that of another account stays where it is. */
  takePending(state: string, account: string): Promise<PendingLogin | undefined>;
  dropPending(state: string, account: string): Promise<void>;
  close(): void;
}
