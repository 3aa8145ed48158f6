/** The table of a run of bench/agents.mjs, between its marks in docs/numbers.md. */

const BEGIN = '<!-- agents:start -->';
const END = '<!-- agents:end -->';
const AGENTS = { 'claude-code': 'Claude Code', codex: 'Codex', opencode: 'OpenCode' };

/** Returns the page with the table of a run between its marks. */
export function withAgents(text, found) {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from === -1 || to === -1) throw new Error('The page has no marks for the table of agents.');
  return `${text.slice(0, from + BEGIN.length)}\n\n${agentsTable(found)}\n\n${text.slice(to)}`;
}

export function agentsTable({ date, node, cores, cpu, memoryGb, rounds, agents, together }) {
  const both = (name, what, side) => [name, what, side('alone'), side('plugboard')];
  const rows = Object.entries(AGENTS).flatMap(([id, title]) => [
    both(title, 'tools in its first request', (side) => String(agents[id][side].tools)),
    both('', 'seconds to that request', (side) => agents[id][side].seconds.toFixed(1)),
  ]);
  rows.push(
    both('all three at once', 'processes of servers', (side) => String(together[side].servers)),
    both('', 'processes of servers and of Plugboard', (side) => String(together[side].processes)),
    both('', 'megabytes of these', (side) => String(Math.round(together[side].megabytes))),
    both('', 'agents that one login serves', (side) => String(together[side].loggedIn)),
  );
  const about = [
    'The same six servers configured in each agent, and through Plugboard after `plugboard up`: two from npm, one over HTTP, one behind a',
    'login, one that hangs, one that crashes. One of them offers more tools to a client that can do more. `node bench/agents.mjs` drives the',
    'real agents with a scripted model and writes this table:',
    `medians of ${rounds} runs on ${date}, Node ${node}, ${cores} × ${cpu}, ${memoryGb} GB.`,
  ].join('\n');
  return `${about}\n\n${table(['agent', 'measure', 'alone', 'through Plugboard'], rows)}`;
}

/** Columns as wide as their widest cell, as the formatter of this repository wants them. */
function table(head, rows) {
  const widths = head.map((title, at) =>
    Math.max(3, ...[title, ...rows.map((row) => row[at])].map((cell) => cell.length)),
  );
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join(
    '\n',
  );
}
