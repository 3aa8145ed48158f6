/** The interface for the state of logins besides secrets: locks, change announcements, notes and pending logins. */

import type { PendingLogin } from './pending-login.ts';

/** `login`: another user or other scopes. `renewal`: the same login with newer tokens. */
export type Change = 'login' | 'renewal';

/** Kinds of non-secret notes about a server for its next login. */
export type NoteKind = 'challenge' | 'unregistered';

/** All methods take the key of a login. */
export interface LoginTraces {
  /** True if changes of other processes are announced; otherwise the store must be polled. */
  readonly announces: boolean;
  /** Runs `work` while holding the lock of this login. */
  locked<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Records a change and calls the watchers; a login is a renewal as well. */
  stamp(key: string, change: Change): Promise<void>;
  /** False if a login with this key was never kept here; true also if that is unknown. */
  mayHave(key: string): boolean;
  /** Returns a text that differs for each login and survives renewals; undefined if only the login itself has it. */
  loginStamp(key: string): string | undefined;
  watch(key: string, change: Change, changed: () => void): () => void;
  note(key: string, kind: NoteKind, text: string): Promise<void>;
  noteOf(key: string, kind: NoteKind): Promise<string | undefined>;
  forgetNote(key: string, kind: NoteKind): Promise<void>;
  savePending(pending: PendingLogin): Promise<void>;
  /** Returns and removes a pending login; one of another account is left in place. */
  takePending(state: string, account: string): Promise<PendingLogin | undefined>;
  dropPending(state: string, account: string): Promise<void>;
  close(): void;
}
