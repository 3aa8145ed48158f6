/** Runs the command from its separate modules; the bundled command begins with `launch-command.ts`. */

import { runMain } from './run-main.ts';

runMain(process.argv.slice(2), {
  commands: () => import('./command-table.ts'),
  completion: () => import('./completion/run-complete.ts'),
  daemon: () => import('../daemon/client/run-in-daemon.ts'),
  questions: () => import('./elicit-form.ts'),
  workspace: () => import('./workspace-program.ts'),
});
