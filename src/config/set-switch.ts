/** Writes a user's own switch for a server in one project. */

import { isRecord } from '../lib/json.ts';
import { change, type EditOptions, serversPath } from './edit-config.ts';
import { valueAt } from './value-at.ts';

/** Writes a switch for one project, or removes it if it is undefined; also removes objects that become empty. */
export async function setSwitch(
  name: string,
  enabled: boolean | undefined,
  { projectRoot, ...options }: EditOptions & { readonly projectRoot: string },
): Promise<void> {
  const { config: file } = options.home;
  await change(file, options, (root) => {
    const target = { scope: 'local', file, path: ['projects', projectRoot, 'servers'] } as const;
    const path = serversPath(target, root);
    const present = valueAt(root, [...path, name]);
    if (enabled !== undefined)
      return { path: [...path, name], value: { ...(isRecord(present) ? present : {}), enabled } };
    if (present === undefined) return undefined;
    const others = Object.keys(Object(valueAt(root, path))).filter((each) => each !== name);
    if (others.length > 0) return { path: [...path, name], value: undefined };
    const project = path.slice(0, -1);
    const rest = Object.keys(Object(valueAt(root, project))).filter((each) => each !== 'servers');
    return { path: rest.length > 0 ? path : project, value: undefined };
  });
}
