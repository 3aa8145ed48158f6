/** Creates the workspace server: the tools of a coding agent for one project, and their cleanup. */

import { defineServer, type Server } from '../kit/define-server.ts';
import { systemClock } from '../lib/clock.ts';
import { readVersion } from '../lib/version.ts';
import { Children } from './child-processes.ts';
import { Root } from './confined-root.ts';
import { editTool } from './edit-tool.ts';
import { gitCommitTool } from './git-commit.ts';
import { gitDiffTool } from './git-diff.ts';
import { gitLogTool } from './git-log.ts';
import { gitStatusTool } from './git-status.ts';
import { globTool } from './glob-tool.ts';
import { grepTool } from './grep-tool.ts';
import { listTool } from './list-tool.ts';
import { findPrograms } from './programs.ts';
import { readTool } from './read-tool.ts';
import { shellTool } from './shell-tool.ts';
import type { Workspace } from './workspace-context.ts';
import { writeTool } from './write-tool.ts';

export interface WorkspaceOptions {
  /** The folder that the tools are confined to. */
  readonly root: string;
  /** Whether programs of the project may run: the shell tool, and git's hooks. */
  readonly shell: boolean;
  /** The value of PATH in which git and ripgrep are looked up. */
  readonly searchPath: string;
}

export interface WorkspaceServer {
  readonly server: Server;
  /** Ends all processes that the tools have started. */
  close(): void;
}

export function createWorkspaceServer({
  root: folder,
  shell,
  searchPath,
}: WorkspaceOptions): WorkspaceServer {
  const root = new Root(folder);
  const children = new Children();
  const workspace: Workspace = {
    root,
    children,
    programs: findPrograms(root, searchPath),
    clock: systemClock,
    shell,
  };
  const tools = [
    readTool,
    writeTool,
    editTool,
    listTool,
    globTool,
    grepTool,
    gitStatusTool,
    gitDiffTool,
    gitLogTool,
    gitCommitTool,
    ...(shell ? [shellTool] : []),
  ].map((make) => make(workspace));
  const server = defineServer({
    name: 'plugboard-workspace',
    version: readVersion(),
    title: 'Workspace',
    instructions:
      'Files and git of one project. Paths are relative to the project root; nothing outside it can be reached. ' +
      'Look with glob and grep before reading, and change files with edit rather than write.',
    tools,
  });
  return { server, close: () => children.close() };
}
