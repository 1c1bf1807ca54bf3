import { defineModule, type Lazy } from '../../system/modules.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { TaintedCommands } from '../trust/tainted-commands.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';

type FilesMirrorNeeds = Omit<FilesMirrorDeps, 'isActive' | 'beforeImport' | 'onSynced'> & {
  labels: ContentLabels;
  provenance: Lazy<Provenance>;
  commands: TaintedCommands;
  isLeaseHolder(): boolean;
};

/** Mirrors workspaces in folders. */
export const filesMirrorModule = defineModule<FilesMirrorNeeds>()({
  name: 'filesMirror',
  needs: [
    'bridge',
    'vault',
    'clock',
    'agents',
    'sync',
    'log',
    'timeZone',
    'settings',
    'isLeaseHolder',
    'labels',
    'commands',
    'provenance',
    'fault',
  ],
  load: async ({ labels, commands, provenance, isLeaseHolder, ...needs }) =>
    new (await import('./files-mirror.ts')).FilesMirror({
      ...needs,
      isActive: isLeaseHolder,
      async beforeImport(workspace, paths) {
        const sources = await commands.getSources();
        await labels.replaceFiles(workspace, paths, sources);
        if (sources.length > 0) return undefined;
        const { trackPersonEdit } = await import('../knowledge/provenance/person-edits.ts');
        return trackPersonEdit({ vault: needs.vault, provenance }, workspace, paths);
      },
      onSynced: (checkedAt) => commands.markSettled(checkedAt),
    }),
  wakeOn: { capability: { kind: 'files' } },
  refresh: (mirror) => mirror.refresh(),
  stop: (mirror) => mirror.stop(),
});
