import { type ProjectChanges, projectContracts } from '#shared/rpc/methods/project-contracts.ts';
import type { Caller } from '../../system/caller.ts';
import { defineMethods } from '../../system/methods.ts';
import { requirePerson } from '../../system/person.ts';
import { exportProject, importProject, type ProjectTransferDeps } from './project-transfer.ts';
import { Projects, type ProjectsDeps } from './projects.ts';

export const projectMethods = defineMethods(projectContracts)((deps: ProjectsDeps & Omit<ProjectTransferDeps, 'projects'>) => {
  const projects = new Projects(deps);
  const transfer = { ...deps, projects };
  return {
    'projects.list': async ({ archived }) => {
      const list = await projects.list(archived);
      return { projects: list, count: list.length };
    },
    'projects.get': async ({ id }) => ({ project: await projects.get(id) }),
    'projects.create': async ({ folder, ...changes }, caller) => {
      requireRight(caller, changes);
      return { project: await projects.create(changes, folder) };
    },
    'projects.update': async ({ id, ...changes }, caller) => {
      requireRight(caller, changes);
      return { project: await projects.update(id, changes) };
    },
    'projects.delete': async ({ id, withChats }) => ({ deleted: true, trashIds: await projects.delete(id, withChats) }),
    'projects.addChats': async ({ id, paths, create }) => ({ added: await projects.addChats(id, paths, create) }),
    'projects.removeChats': async ({ paths }) => ({ removed: await projects.removeChats(paths) }),
    'projects.export': ({ id, cursor }) => exportProject(id, cursor, transfer),
    'projects.import': ({ entries }) => importProject(entries, transfer),
  };
});

/** Instructions speak for the owner in later runs, a model costs, and the memory decides which chats share what they know. */
function requireRight(caller: Pick<Caller, 'principal'>, { instructions, model, memory }: ProjectChanges): void {
  if ([instructions, model, memory].some((value) => value !== undefined))
    requirePerson(caller, 'set the instructions, model or memory of a project');
}
