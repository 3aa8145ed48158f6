/** Creates the errors for missing or failed logins, each with a hint. */

import { type ErrorDetail, PlugboardError, type SurfaceText } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { clean } from '../policy/clean.ts';

/** Limit on the scopes shown in a message, since they come from the server. */
const MAX_SHOWN_CHARS = 200;
/** GitHub's remote server has no registration and refuses logins of unknown programs. */
const GITHUB_HOST = 'api.githubcopilot.com';

/** True for servers that accept only a personal token. */
export function wantsPersonalToken(url: string | URL): boolean {
  return new URL(url).hostname === GITHUB_HOST;
}

function loginHint(server: string): SurfaceText {
  return {
    commands: `plugboard login ${shellWord(server)}`,
    library: `Call host.login(${JSON.stringify(server)}), or give "headers" or "bearerTokenEnvVar" in its entry.`,
  };
}

export function needsLogin(server: string, url: string, why?: string): PlugboardError {
  if (wantsPersonalToken(url)) return needsGitHubToken(server);
  const reason = why === undefined ? '' : `: ${why}`;
  return needsAuth(server, `"${server}" requires a login${reason}`, loginHint(server));
}

function needsAuth(
  server: string,
  message: string,
  hint: string | SurfaceText,
  detail: ErrorDetail = {},
): PlugboardError {
  return new PlugboardError('NEEDS_AUTH', message, { server, hint, detail });
}

export function needsGitHubToken(server: string): PlugboardError {
  const first = 'Make a token at https://github.com/settings/personal-access-tokens, put it into a variable,';
  const hint = {
    commands: `${first} and add the server with --bearer-token-env-var GITHUB_TOKEN.`,
    library: `${first} and name that in the entry: bearerTokenEnvVar: "GITHUB_TOKEN".`,
  };
  const message = `The server "${server}" is GitHub's: it takes a personal access token instead of a login`;
  return needsAuth(server, message, hint, { permanent: true });
}

/** The error for an unset token variable. The entry names a variable, so a login is only the second choice. */
export function needsVariable(server: string, variable: string): PlugboardError {
  const hint = {
    commands: `Set ${variable} in the environment of Plugboard, or log in if the server offers that: plugboard login ${shellWord(server)}`,
    library: `Set ${variable} in the environment, or log in if the server offers that: host.login(${JSON.stringify(server)}).`,
  };
  const message = `The server "${server}" takes its token from the variable ${variable}, which is not set`;
  return needsAuth(server, message, hint, { httpStatus: 401, permanent: true });
}

/** `source` describes where the refused value was configured, e.g. "the variable DOCS_TOKEN". */
export function refusedCredential(server: string, source: string, status: 401 | 403): PlugboardError {
  const message = `The server "${server}" refused the credentials from ${source} (${status})`;
  const hint = `Put a valid value into ${source}.`;
  return needsAuth(server, message, hint, { httpStatus: status, permanent: true });
}

export function needsScope(server: string, scope: string | undefined): PlugboardError {
  const message = `The server "${server}" requires more rights than its login has${named(scope)}`;
  return needsAuth(server, message, loginHint(server), { httpStatus: 403 });
}

export function scopeNotGranted(server: string, scope: string | undefined): PlugboardError {
  const message = `The server "${server}" refuses this although its login was asked for all the rights it named${named(scope)}`;
  const hint = 'Ask its owner to give your account these rights; another login will not change it.';
  return needsAuth(server, message, hint, { httpStatus: 403, permanent: true });
}

export function needsClientRegistration(server: string): PlugboardError {
  return new PlugboardError(
    'NEEDS_CLIENT_REGISTRATION',
    `The authorization server of "${server}" does not let programs register themselves`,
    {
      server,
      hint: {
        commands: `Register an application there with the redirect address http://127.0.0.1:<port>/oauth/callback, then add the server again with --client-id ID --callback-port PORT (and --client-secret when it gave you one), and run: plugboard login ${shellWord(server)}`,
        library: `Register an application there with the redirect address http://127.0.0.1:<port>/oauth/callback, give oauth: { clientId, callbackPort } in the entry (and clientSecret if there is one), and call host.login(${JSON.stringify(server)}).`,
      },
      detail: { permanent: true },
    },
  );
}

export function authFailed(server: string, message: string, options: { hint?: string } = {}): PlugboardError {
  return new PlugboardError('AUTH_FAILED', `The login to "${server}" failed: ${message}`, {
    server,
    hint: options.hint ?? {
      commands: `Try again: plugboard login ${shellWord(server)}`,
      library: `Try again: host.login(${JSON.stringify(server)})`,
    },
  });
}

export function loginTimeout(server: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `The login to "${server}" took longer than ${ms / 1000} s`, {
    server,
    hint: 'Try again; raise startupTimeoutMs of its entry if its servers only need longer.',
  });
}

/** Returns an OAuth error code that is safe to show; never the description, which can quote a secret. */
export function oauthCode(code: unknown): string {
  return typeof code === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(code) ? code : 'unknown error';
}

function named(scope: string | undefined): string {
  return scope === undefined ? '' : ` (${clean(scope, { multiline: false, max: MAX_SHOWN_CHARS })})`;
}
