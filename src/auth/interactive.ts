/** Runs an interactive login: callback listener, browser or pasted address, a limit of five minutes, stored tokens. */

import { PlugboardError } from '../errors.ts';
import { aborted } from '../lib/waits.ts';
import { authFailed } from './auth-errors.ts';
import { type CallbackAnswer, type CallbackListener, listenForCallback } from './callback.ts';
import {
  type BegunLogin,
  beginLogin,
  ClientForgotten,
  finishLogin,
  type LoginAnswer,
  type LoginContext,
} from './login.ts';
import { LOGIN_LIMIT_MS } from './pending-login.ts';

/** How many invalid pastes are accepted before the login fails. */
const MAX_PASTES = 5;

export interface LoginOptions {
  readonly signal?: AbortSignal | undefined;
  /** Do not open a browser; only report the address. */
  readonly noBrowser?: boolean | undefined;
  /** Called with the address for the browser and whether a browser was opened. */
  readonly onUrl?: ((url: string, opened: boolean) => void) | undefined;
  /** Asks the user for the final address of the browser; for machines that a browser cannot reach. */
  readonly readPastedRedirect?: ((signal: AbortSignal) => Promise<string>) | undefined;
}

export interface Interaction extends LoginOptions {
  open(url: string): Promise<boolean>;
  notice(message: string): void;
}

export async function interactiveLogin(context: LoginContext, interaction: Interaction): Promise<void> {
  try {
    await attempt(context, interaction);
  } catch (error) {
    if (!(error instanceof ClientForgotten)) throw error;
    await attempt(context, interaction).catch((again: unknown) => {
      throw again instanceof ClientForgotten
        ? authFailed(context.server, 'its registration is refused at once.')
        : again;
    });
  }
}

async function attempt(context: LoginContext, interaction: Interaction): Promise<void> {
  const limit = new AbortController();
  const stopClock = context.clock.after(LOGIN_LIMIT_MS, () => limit.abort());
  const signal = AbortSignal.any([limit.signal, ...(interaction.signal ? [interaction.signal] : [])]);
  const listener = await listenForCallback(context.server, await wantedPort(context));
  let state: string | undefined;
  try {
    if (!listener.onWantedPort && context.oauth.callbackPort !== undefined) {
      interaction.notice(
        `Port ${context.oauth.callbackPort} is taken; the login uses ${listener.redirectUri} instead.`,
      );
    }
    const begun = await beginLogin(context, listener.redirectUri, signal);
    state = begun.state;
    const answer = await firstAnswer(context, listener, begun, interaction, signal);
    if (answer !== undefined) await finishWith(context, answer, signal);
  } catch (error) {
    if (limit.signal.aborted) throw authFailed(context.server, 'it was not finished within five minutes.');
    if (signal.aborted)
      throw new PlugboardError('CANCELLED', 'The login was cancelled', { server: context.server });
    throw error;
  } finally {
    stopClock();
    listener.close();
    if (state !== undefined) await context.logins.dropPending(context.url, state);
  }
}

/** Returns the port of the registration, if there is one: some servers reject redirects to other ports. */
async function wantedPort({ oauth, logins, url }: LoginContext): Promise<number> {
  if (oauth.callbackPort !== undefined) return oauth.callbackPort;
  const registered = (await logins.read(url))?.client?.redirectUri;
  return registered === undefined ? 0 : Number(new URL(registered).port);
}

/**
 * Opens the browser and waits for the answer; undefined if another process finished this login or made its own. A
 * signed-in browser answers at once and an opener may block until the page has loaded, so waiting starts before the
 * browser is opened.
 */
async function firstAnswer(
  context: LoginContext,
  listener: CallbackListener,
  { state, authorizationUrl }: BegunLogin,
  interaction: Interaction,
  signal: AbortSignal,
): Promise<CallbackAnswer | undefined> {
  let isReported = false;
  const reportUrl = (opened: boolean): void => {
    if (!isReported) interaction.onUrl?.(authorizationUrl, opened);
    isReported = true;
  };
  // The first answer cancels the other ways.
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  let unwatch = (): void => {};
  const elsewhere = new Promise<undefined>((resolve) => {
    unwatch = context.logins.watch(context.url, 'login', () => {
      context.logins.read(context.url).then(
        (login) => {
          if (login?.tokens !== undefined) resolve(undefined);
        },
        // If the store cannot be read, the other ways still work.
        () => undefined,
      );
    });
  });
  const answered = listener.answer(state).then((answer) => {
    reportUrl(interaction.noBrowser !== true);
    return answer;
  });
  const opening =
    interaction.noBrowser === true ? Promise.resolve(false) : interaction.open(authorizationUrl);
  const afterwards = opening.then((opened) => {
    if (either.aborted) return undefined;
    reportUrl(opened);
    const { readPastedRedirect: read } = interaction;
    return read === undefined ? never() : pasted(read, state, either, interaction);
  });
  try {
    return await Promise.race([answered, aborted(signal), elsewhere, afterwards]);
  } finally {
    done.abort();
    unwatch();
  }
}

async function finishWith(context: LoginContext, answer: CallbackAnswer, signal: AbortSignal): Promise<void> {
  try {
    await finishLogin(context, toAnswer(answer.params), signal);
  } catch (error) {
    answer.finish(false);
    throw error;
  }
  answer.finish(true);
}

async function pasted(
  read: (signal: AbortSignal) => Promise<string>,
  state: string,
  signal: AbortSignal,
  interaction: Interaction,
): Promise<CallbackAnswer> {
  for (let tries = 0; tries < MAX_PASTES; tries++) {
    const text = await read(signal);
    const params = pastedParams(text);
    if (params?.get('state') === state) return { params, finish: () => {} };
    interaction.notice(
      'That is not the answer to this login. Paste the whole address that the browser ended on.',
    );
  }
  throw new PlugboardError('AUTH_FAILED', 'What was pasted was not the answer to this login', {
    hint: 'Start the login again and paste the whole address that the browser ended on.',
  });
}

/** Parses a whole address or only its query string. */
export function pastedParams(text: string): URLSearchParams | undefined {
  const trimmed = text.trim();
  const query = trimmed.includes('?') ? trimmed.slice(trimmed.indexOf('?') + 1) : trimmed;
  const params = new URLSearchParams(query.split('#')[0] ?? '');
  return params.has('state') ? params : undefined;
}

export function toAnswer(params: URLSearchParams): LoginAnswer {
  const get = (name: string): string | undefined => params.get(name) ?? undefined;
  return { state: params.get('state') ?? '', code: get('code'), iss: get('iss'), error: get('error') };
}

function never(): Promise<undefined> {
  return new Promise(() => {});
}
