import { chosenSection } from './requirement.ts';

/** Folders of chats with instructions, files, collections, memory, model and agents. */
export const projects = [
  chosenSection('decisions, "Projects"', {
    'projects/instructions':
      'The instructions of a project follow those of the agent in the system text, and stay the same from turn to turn.',
    'projects/model': 'The project’s model and parameters apply to its chats, after those of the chat and before those of the agent.',
    'projects/files': 'Tools in a chat of a project read and write the files of the project.',
    'projects/collections': 'Chats of a project can search its collections besides those of their agent.',
    'projects/memory': 'A project with its own memory saves and recalls there, and other chats do not see it.',
    'projects/chats': 'Chats move to and from projects, and a folder becomes a project with its chats.',
    'projects/trash': 'A deleted project can be restored with its chats and files; deleted permanently, its files are gone.',
    'projects/transfer': 'An exported project is the same when it is imported, and importing it twice adds nothing.',
    'projects/outside': 'Imported instructions, files and memories count as outside content until a person reviews them.',
    'projects/people': 'Only people set instructions, model and memory, and export and import are for callers with full access.',
    'projects/app': 'The app shows projects in the sidebar and on pages of their own.',
    'projects/hosts': 'Hosts share projects, and both versions of a concurrent change are kept for the person.',
  }),
];
