import type { Agent } from './agents.d.mts';

/** Resolves with a remark, or rejects with what is wrong. */
type Scenario = (agent: Agent, given: { readonly requests?: unknown[] }) => Promise<string | undefined>;

export const SCENARIOS: Readonly<Record<string, Scenario>>;
