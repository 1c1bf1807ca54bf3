import { createProject } from '../agent/projects/projects.ts';
import type { ProjectRecord } from '../storage/records/project-record.ts';
import { getDaysAgo } from './demo-time.ts';

/** Id of the sample project, which some chats of the past belong to. */
export const COUNT_PROJECT_ID = 'spring-count';

/** The sample project. Its chats use the memory of their agent. */
export const createDemoProject = (now: number): ProjectRecord => ({
  ...createProject(COUNT_PROJECT_ID, 'Spring count', getDaysAgo(now, 26, '09:00')),
  instructions: 'We count herons at the lake on the first Saturday of April.\nName species in English and Latin. Give numbers as tables.',
  memory: 'shared',
});

/** A file of the sample project. */
export const ROUTE_FILE = {
  path: 'route.md',
  content: '# Route\n\n1. Boathouse, 8:30\n2. Reed bed, 9:15\n3. Island hide, 10:00 (permit in the boat)\n',
};
