import { defineModule } from '../../system/modules.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { TaintedCommands } from '../trust/tainted-commands.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';

type FilesMirrorNeeds = Omit<FilesMirrorDeps, 'isActive' | 'beforeImport' | 'onSynced'> & {
  labels: ContentLabels;
  commands: TaintedCommands;
  isLeaseHolder(): boolean;
};

/** Mirrors workspaces in folders. */
export const filesMirrorModule = defineModule<FilesMirrorNeeds>()({
  name: 'filesMirror',
  needs: ['bridge', 'vault', 'clock', 'agents', 'sync', 'log', 'timeZone', 'settings', 'isLeaseHolder', 'labels', 'commands', 'fault'],
  load: async ({ labels, commands, isLeaseHolder, ...needs }) =>
    new (await import('./files-mirror.ts')).FilesMirror({
      ...needs,
      isActive: isLeaseHolder,
      beforeImport: async (workspace, paths) => labels.replaceFiles(workspace, paths, await commands.getSources()),
      onSynced: (checkedAt) => commands.markSettled(checkedAt),
    }),
  wakeOn: { capability: { kind: 'files' } },
  refresh: (mirror) => mirror.refresh(),
  stop: (mirror) => mirror.stop(),
});
