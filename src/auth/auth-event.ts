/** Events of logins for a host: login needed, waiting, done, failed or removed, and warnings. */

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
