/** Reports problems in configuration files, each with its position. */

import { existsSync } from 'node:fs';
import { type Check, type DoctorContext, plural } from './check.ts';

export function checkConfiguration({ config }: Pick<DoctorContext, 'config'>): Check[] {
  const checks = config.problems.map(({ file, line, column, server, message, hint }): Check => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    return {
      id: 'config',
      ...(server === undefined ? {} : { server }),
      ok: false,
      message: `${place}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
    };
  });
  if (checks.length > 0) return checks;
  const there = config.files.filter((file) => existsSync(file));
  const servers = plural(config.servers.length, 'server');
  if (there.length > 0) return [{ id: 'config', ok: true, message: `${servers} in ${there.join(', ')}` }];
  return [
    {
      id: 'config',
      ok: true,
      message: 'No configuration file is there yet',
      hint: 'Add a server with plugboard add, or take over those of other agents with plugboard import.',
    },
  ];
}
