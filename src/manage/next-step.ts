/** The one thing that a person can do about a server that does not work, as data for the page. */

import type { ErrorDetail } from '../errors.ts';
import type { HostManagement } from '../host/host-management.ts';
import type { ServerReport } from '../host/host-report.ts';

export const NEXT_ACTIONS = [
  'login',
  'register-client',
  'trust',
  'enable',
  'edit',
  'set-input',
  'set-variable',
  'review-pins',
  'retry',
  'install',
  'read-log',
  'ask-administrator',
] as const;

export interface NextStep {
  readonly action: (typeof NEXT_ACTIONS)[number];
  /** One sentence, without commands of a terminal. */
  readonly message: string;
  /** The id of the input to set. */
  readonly input?: string;
  /** The variable to set, or the program to install. */
  readonly setting?: string;
}

/** A server as the API shows it. */
export type ShownServer = ServerReport & { readonly title?: string; readonly next?: NextStep };

/** Adds the display name and the next step to a report. */
export function shownServer(report: ServerReport, management: HostManagement): ShownServer {
  const title = management.titleOf(report.name);
  const next = nextStep(report, management);
  return {
    ...report,
    ...(title === undefined ? {} : { title }),
    ...(next === undefined ? {} : { next }),
  };
}

function nextStep(report: ServerReport, management: HostManagement): NextStep | undefined {
  const { name, status, held = 0 } = report;
  switch (status) {
    case 'disabled':
      return { action: 'enable', message: `Enable ${name} to use it.` };
    case 'blocked':
      return { action: 'ask-administrator', message: 'A policy of this machine blocks it.' };
    case 'untrusted':
      return { action: 'trust', message: 'Review what it would run, and approve it.' };
    case 'needs_auth':
      return { action: 'login', message: `Log in to ${name}.` };
    case 'needs_client_registration':
      return {
        action: 'register-client',
        message: 'Register an application with the provider, and enter its client id.',
      };
    case 'failed':
      return afterFailure(report, management);
    case 'idle':
    case 'connecting':
    case 'connected':
    case 'disconnected':
      if (report.waiting !== undefined)
        return { action: 'trust', message: 'An entry of the project with this name waits for approval.' };
      return held === 0
        ? undefined
        : { action: 'review-pins', message: 'Some of its definitions are new or have changed: review them.' };
    default:
      return status satisfies never;
  }
}

function afterFailure({ name, error }: ServerReport, management: HostManagement): NextStep {
  const missing = management.missingFor(name);
  if (missing !== undefined) return afterMissing(missing);
  switch (error?.code) {
    case 'CONFIG_INVALID':
    case 'NOT_MCP':
      return { action: 'edit', message: 'Correct its entry.' };
    case 'CONNECT_FAILED':
    case 'CONNECTION_LOST':
      return { action: 'retry', message: 'Check that it runs and can be reached, then try again.' };
    case 'PIN_CHANGED':
      return { action: 'review-pins', message: 'It differs from what you accepted: review the changes.' };
    case 'EGRESS_REFUSED':
    case 'BLOCKED_BY_POLICY':
      return { action: 'ask-administrator', message: 'A policy of this machine blocks it.' };
    default:
      return { action: 'read-log', message: 'Its log has the reason.' };
  }
}

function afterMissing({ kind, name }: NonNullable<ErrorDetail['missing']>): NextStep {
  switch (kind) {
    case 'input':
      return { action: 'set-input', message: `Enter the value of ${name}.`, input: name };
    case 'variable':
      return {
        action: 'set-variable',
        message: `The environment variable ${name} is not set. Set it, or enter a value in the entry.`,
        setting: name,
      };
    case 'program':
      return {
        action: 'install',
        message: `The program ${name} was not found. Install it, or correct the entry.`,
        setting: name,
      };
    default:
      return kind satisfies never;
  }
}
