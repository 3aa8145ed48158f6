/** What logging in tells a host: that a login is needed, waits, is done; and what a person should know. */

export type AuthEvent =
  | {
      readonly type: 'login';
      readonly server: string;
      readonly state: 'needed' | 'waiting' | 'done' | 'failed' | 'removed';
      readonly url?: string;
      readonly opened?: boolean;
      readonly message?: string;
      readonly hint?: string;
    }
  | {
      readonly type: 'notice';
      readonly server: string;
      readonly level: 'info' | 'warning' | 'error';
      readonly message: string;
    };
