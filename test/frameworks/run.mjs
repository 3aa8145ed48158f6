/**
 * Runs one row of the matrix: `node run.mjs <framework> [scenario…]`. Prints one JSON object: by scenario `yes`, a remark, or what is
 * wrong; the requests that were sent; and the warnings that the framework printed.
 */

import { importFramework } from '../../scripts/install-frameworks.mjs';
import { AGENTS } from './agents.mjs';
import { SCENARIOS } from './scenarios.mjs';

const [name, ...wanted] = process.argv.slice(2);
const agent = await AGENTS[name].make(importFramework);
const warnings = [];
for (const level of ['warn', 'error', 'info', 'log'])
  console[level] = (...parts) => void warnings.push(parts.map(String).join(' '));
process.on('warning', (warning) => warnings.push(`${warning.name}: ${warning.message}`));

const requests = [];
const outcome = async (scenario) => {
  try {
    return (await SCENARIOS[scenario](agent, { requests })) ?? 'yes';
  } catch (error) {
    return `no: ${error.stack}`;
  }
};
const scenarios = wanted.length > 0 ? wanted : Object.keys(SCENARIOS);
const found = await Promise.all(scenarios.map(async (scenario) => [scenario, await outcome(scenario)]));
const outcomes = Object.fromEntries(found);
process.stdout.write(`${JSON.stringify({ outcomes, requests, warnings })}\n`, () => process.exit(0));
