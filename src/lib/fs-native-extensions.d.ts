/** The part of fs-native-extensions that locked-file.ts uses; the package ships no types. */
declare module 'fs-native-extensions' {
  /** False when another open file holds the lock. */
  export function tryLock(fd: number): boolean;
  export function unlock(fd: number): void;
}
