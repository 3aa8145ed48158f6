/** Storage for records of legacy HTTP sessions, shared by the processes that may continue each other's sessions. */

export interface SessionStore {
  /** Returns the text of a record; undefined if there is none, or it expired. */
  read(name: string): Promise<string | undefined>;
  /** Writes or replaces a record in one step. Rejects if it cannot be stored. */
  write(name: string, text: string): Promise<void>;
  /** Starts the lifetime of a record again: its session is in use. */
  touch(name: string): Promise<void>;
  /** Deletes a record, if there is one. */
  remove(name: string): Promise<void>;
}

/** A store, and the secret with which session ids are sealed. */
export interface SessionStorage {
  readonly store: SessionStore;
  /** The same in every process that uses the store; at least 32 bytes. */
  readonly key: Uint8Array;
}
