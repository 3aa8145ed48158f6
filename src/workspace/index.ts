/** The entry point `@plugboard/workspace`: the tools of a coding agent for one folder, as a server of the kit. */

export type { WorkspaceOptions, WorkspaceServer } from './workspace-server.ts';
export { createWorkspaceServer } from './workspace-server.ts';
