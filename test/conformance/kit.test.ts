import { expect, it } from 'vitest';
import { SUITE_TIMEOUT_MS, serverVerdicts } from './suite.ts';

const KIT = { program: '../fixtures/kit-conformance.mjs' };

const TASKS = 'tasks are an extension that the kit does not offer';

/** Expected failures with their reasons. Any other failure, and any of these that passes, fails this test. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'tasks-lifecycle': TASKS,
  'tasks-capability-negotiation': TASKS,
  'tasks-wire-fields': TASKS,
  'tasks-request-state-removal': TASKS,
  'tasks-mrtr-input': TASKS,
  'tasks-request-headers': TASKS,
  'tasks-dispatch-and-envelope': TASKS,
  'tasks-required-task-error': TASKS,
  'tasks-mrtr-composition': TASKS,
};

it(
  'KIT-1: a server of the kit passes every server scenario that the suite has',
  async () => {
    const { passed, failed } = await serverVerdicts(KIT, ['--suite', 'all']);
    expect(failed).toEqual(Object.keys(EXCEPTIONS));
    expect(passed.length).toBeGreaterThanOrEqual(55);
  },
  SUITE_TIMEOUT_MS * 2,
);

it(
  'KIT-1: a server of the kit passes all that the suite requires of a server of the legacy era',
  async () => {
    const { passed, failed } = await serverVerdicts(KIT, ['--requirements', '2025-11-25']);
    expect(failed).toEqual([]);
    expect(passed.length).toBeGreaterThanOrEqual(30);
  },
  SUITE_TIMEOUT_MS * 2,
);
