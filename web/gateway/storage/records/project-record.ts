import type { Project } from '#shared/rpc/methods/project-contracts.ts';

/** A project, as it is stored (docs/decisions/0136-projects.md). */
export interface ProjectRecord extends Omit<Project, 'workspace' | 'outside' | 'chats'> {
  /** Outside sources of the instructions; undefined if a person wrote them. */
  outside?: string[];
}

/** Name of the workspace that holds a project's files and its own memory. */
export const getProjectWorkspace = ({ id }: Pick<ProjectRecord, 'id'>): string => `project-${id}`;

/** Id of the project that a workspace belongs to; undefined for workspaces of agents. */
export const findProjectId = (workspace: string): string | undefined => /^project-(.+)$/.exec(workspace)?.[1];
