import { expect, it } from 'vitest';
import { SUITE_TIMEOUT_MS, serverVerdicts } from './suite.ts';

/** What fails, and why that stands for now. Anything else that fails, and any of these that passes, fails this test. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'elicitation-sep1330-enums': 'forms are made safe to show: enumNames become oneOf with titles',
  },
  '2026-07-28': {
    'input-required-result-basic-elicitation':
      'the gateway has keys of its own for questions, not "user_name"',
    'input-required-result-non-tool-request': 'questions of prompts/get do not reach the session yet',
  },
};

it.each(['2025-11-25', '2026-07-28'])(
  'SRV-1: the gateway passes what the suite requires of a server of %s',
  async (requirements) => {
    const { passed, failed } = await serverVerdicts('./server-gateway.mjs', ['--requirements', requirements]);
    expect(failed).toEqual(Object.keys(EXCEPTIONS[requirements] ?? {}));
    expect(passed.length + failed.length).toBeGreaterThanOrEqual(30);
  },
  SUITE_TIMEOUT_MS * 2,
);
