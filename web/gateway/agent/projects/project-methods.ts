import { projectContracts } from '#shared/rpc/methods/project-contracts.ts';
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
      // Instructions speak for the owner in later runs.
      if (changes.instructions) requirePerson(caller, 'set the instructions of a project');
      return { project: await projects.create(changes, folder) };
    },
    'projects.update': async ({ id, ...changes }, caller) => {
      if (changes.instructions !== undefined) requirePerson(caller, 'set the instructions of a project');
      return { project: await projects.update(id, changes) };
    },
    'projects.delete': async ({ id, withChats }) => ({ deleted: true, trashIds: await projects.delete(id, withChats) }),
    'projects.addChats': async ({ id, paths, create }) => ({ added: await projects.addChats(id, paths, create) }),
    'projects.removeChats': async ({ paths }) => ({ removed: await projects.removeChats(paths) }),
    'projects.export': ({ id, cursor }) => exportProject(id, cursor, transfer),
    'projects.import': ({ entries }) => importProject(entries, transfer),
  };
});
