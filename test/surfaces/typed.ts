/** The command lines for each command in each world. A command that is not here fails the tests until it is added. */

type Words = readonly string[];

interface Typed {
  /** In the hostile project; every one of them has to start and contact nothing. */
  readonly hostile: readonly Words[];
  /** With all faulty servers at once, and with the poisoned catalog; not for commands without an answer. */
  readonly faulty?: Words;
  readonly poisoned?: Words;
  /** Changes files of the project or of the person, or depends on the processes of other runs. */
  readonly alone?: true;
}

export const TYPED: Readonly<Record<string, Typed>> = {
  add: { hostile: [['new', '--', 'x']], alone: true },
  'add-json': { hostile: [['newer', '{"command":"x"}']], alone: true },
  remove: { hostile: [['evil', '-s', 'user']] },
  get: { hostile: [['evil'], ['words']], faulty: ['exits'], poisoned: ['poison'] },
  set: { hostile: [['evil', 'env.A=1']], alone: true },
  unset: { hostile: [['evil', 'env.A']], alone: true },
  edit: { hostile: [['evil']] },
  enable: { hostile: [['evil']], alone: true },
  disable: { hostile: [['evil']], alone: true },
  list: { hostile: [[], ['--no-connect']], faulty: [], poisoned: [] },
  test: { hostile: [['evil'], ['remote']], faulty: ['exits'], poisoned: ['poison'] },
  info: { hostile: [['evil']], faulty: ['exits'], poisoned: ['poison'] },
  logs: { hostile: [[], ['evil']], faulty: [], poisoned: ['poison'] },
  // With --yes they would change the files of the person who runs the tests; test/cli/up.test.ts has that.
  up: { hostile: [['--dry-run', '--agent', 'windsurf']] },
  down: { hostile: [['--dry-run']] },
  import: { hostile: [['--dry-run'], []], alone: true },
  export: { hostile: [['--to', 'claude-code', '--dry-run']] },
  plugin: { hostile: [['list'], ['add', '.']], alone: true },
  tools: { hostile: [[], ['evil']], faulty: [], poisoned: ['poison'] },
  tool: { hostile: [['evil', 'x']], faulty: ['dies', 'work'], poisoned: ['poison', 'read'] },
  search: { hostile: [['anything']], faulty: ['work'], poisoned: ['read'] },
  call: { hostile: [['evil', 'x']], faulty: ['dies', 'work'], poisoned: ['poison', 'read'] },
  resources: { hostile: [[], ['evil']], faulty: [], poisoned: ['poison'] },
  read: {
    hostile: [['evil', 'file:///etc/passwd']],
    faulty: ['dies', 'work://dies'],
    poisoned: ['poison', 'poison://one'],
  },
  prompts: { hostile: [[], ['evil']], faulty: [], poisoned: ['poison'] },
  prompt: { hostile: [['evil', 'x']], faulty: ['dies', 'ask'], poisoned: ['poison', 'ask'] },
  login: { hostile: [['remote']], faulty: ['exits'] },
  logout: { hostile: [['remote']], faulty: ['locked'] },
  input: { hostile: [['list']] },
  // Without a terminal, a name that is typed is consent: that is what the command is for.
  trust: { hostile: [[]] },
  token: { hostile: [['list'], ['add', 'agent']] },
  profile: { hostile: [['list'], ['try', 'none', 'evil__x']] },
  audit: { hostile: [[]] },
  tasks: { hostile: [[]] },
  results: { hostile: [[]] },
  program: { hostile: [['list'], ['run', '.mcp.json']] },
  cost: { hostile: [[]] },
  chat: { hostile: [['-p', 'hello', '--yes']] },
  serve: { hostile: [[], ['--no-daemon'], ['--http', '0']] },
  dashboard: { hostile: [['--port', '0']] },
  // `start` begins one of our processes, which stays; it serves what `serve` does.
  daemon: { hostile: [['status'], ['stop']], faulty: ['status'] },
  service: { hostile: [['status']] },
  // A daemon that `serve` starts at the same time would decide its outcome.
  reconnect: { hostile: [['evil']], alone: true },
  reload: { hostile: [[]] },
  workspace: { hostile: [[]] },
  init: { hostile: [['server', 'made']], alone: true },
  lock: { hostile: [[], ['--check'], ['prune']] },
  outdated: { hostile: [[]] },
  update: { hostile: [['--dry-run']] },
  pins: { hostile: [[], ['evil'], ['--accept']], faulty: [], poisoned: [] },
  doctor: { hostile: [[]], faulty: [], poisoned: [] },
  completion: { hostile: [['bash']] },
};
