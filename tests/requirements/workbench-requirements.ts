import { chosenSection, specifiedSection } from './requirement.ts';

/** Resources of agents: files, plans and skills. */
export const workbench = [
  specifiedSection('interface document 1, sections 3 and 4.1', {
    'plan.list/entries': '`plan.list` and `plan.get` give plans with their steps; an unknown one is NOT_FOUND.',
    'plan.resume/resumes': 'A paused plan goes on at the very step it was at, also after a host that died.',
    'plan.delete/deletes': '`plan.delete` deletes a plan; what follows it goes on without.',
    'skills.list/entries': '`skills.list` names the skills of workspaces and of the bridge, and what each lacks.',
  }),
  chosenSection('decisions, "Cron, tools, exec, plans"', {
    'plan/followed':
      'An agent makes a plan by tools and follows it; one step is running at a time, and the plan is in the model’s context.',
    'plan/transitions': 'Steps move along allowed ways only; an error names them.',
    'plan/paused': 'A run that ends with steps left pauses its plan, with why where it did not end well.',
    'plan/hosts': 'A plan whose run is under way on another host is left alone, until that host is gone.',
    'plan.resume/not-paused': 'Resuming one not paused: `{resumed: false, plan, reason}`.',
    'workspace/files': 'Files are listed, read, written and removed by workspace; text as it is, anything else as base64.',
    'workspace/names': 'Paths lead nowhere else, are in NFC, and keep their case.',
    'workspace/limits': '8 MiB a file, 256 MiB and 10,000 files a workspace; listing reads no content.',
    'workspace/totals': 'What a workspace has is known without looking at all of its files, and right whoever has changed them.',
    'workspace/media-type': 'What a file is goes by its content; of texts, and of what content cannot tell, by its ending.',
    'tools/files': 'Agents reach the files of their own workspace by tools, text in pages.',
    'tools/file-versions': 'What a tool replaces or removes is kept as a version, which a person writes back with one call.',
    'tools/send-file': '`send_file` hands a file to the person: it arrives with the reply.',
    'chat.attachment/bytes': 'The bytes of a message’s file are to be had, however large.',
    'tools/loaded-late': 'Tools that are loaded when they are first wanted are listed and run like the others.',
  }),
  chosenSection('the open Agent Skills format; decisions, "Cron, tools, exec, plans"', {
    'skills/format': 'Front matter is held to the format; what does not fit is listed as invalid, with why.',
    'skills/inert': 'A model is told name and description of ready skills, reads the rest by a tool, and gains no rights by it.',
    'skills/called':
      'A message that begins with `/` and the name of a ready skill is answered by it, unless its front matter keeps it from people.',
    'skills/bridge-folder': 'In the bridge’s folder links that lead out, pipes, huge files and no text are told of, never read.',
  }),
];
