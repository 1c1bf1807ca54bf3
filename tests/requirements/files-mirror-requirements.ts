import { chosenSection } from './requirement.ts';

/** Workspaces in folders on the bridge's machine. */
export const filesMirror = [
  chosenSection('interface document 2, section 2.5; docs/decisions/0026', {
    'mirror/both-ways':
      'What an agent writes is in the workspace’s folder, and what is saved there is in the workspace, bytes for bytes, for the owner alone.',
    'mirror/dialogs':
      'Conversations are written to `dialog/` day by day and go with their chats; nothing is taken back from there, and what a person put there is left (docs/decisions/0051).',
    'mirror/deletes': 'What one side deletes goes from the other, too; what the other has changed meanwhile stays.',
    'mirror/conflict': 'Where both changed a file the folder’s version wins, and the other is kept beside it with the time in its name.',
    'mirror/notices': 'Changes in the folder are noticed by themselves, those that no watch tells of by a slow look.',
    'mirror/gone':
      'A folder that has vanished, is empty, or has lost more than half at once deletes nothing: the mirror stops, the doctor says so, and one call goes on.',
    'mirror/outside': 'Links, pipes and what is no plain file are neither read nor written through, nor taken for deleted.',
    'mirror/names': 'Names in another Unicode form are the same; names that a disk takes for one another are told of, and neither is lost.',
    'mirror/limits': 'What is beyond the workspace’s limits is told once and left where it is.',
    'mirror/ignored': 'The memory’s index and what belongs to tools stay on their side.',
    'mirror/crash': 'Cut off at any step, a file is the old or the new one, and both sides come to the same at the next look.',
    'mirror/nothing-lost':
      'Whatever both sides do, and wherever it is cut off: they come to the same, and what either wrote last is somewhere.',
    'mirror/many': 'Ten thousand files come over both ways.',
    'mirror/one': 'Only the host that serves mirrors, and only where it is wanted.',
    'workspace.mirrors/states': '`workspace.mirrors` tells how it stands with each folder.',
    'workspace.resume/goes-on': '`workspace.resume` brings back what is gone, or lets it go; one that has not stopped is left as it is.',
  }),
];
