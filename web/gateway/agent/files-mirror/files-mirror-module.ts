import { defineModule, type Lazy } from '../../system/modules.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { TaintedCommands } from '../trust/tainted-commands.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';

type FilesMirrorNeeds = Omit<FilesMirrorDeps, 'isActive' | 'beforeImport' | 'beforeCopy' | 'onSynced'> & {
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
  load: async ({ labels, commands, provenance, isLeaseHolder, ...needs }) => {
    const [{ FilesMirror }, { createMirrorLabels }] = await Promise.all([import('./files-mirror.ts'), import('./mirror-labels.ts')]);
    return new FilesMirror({
      ...needs,
      ...createMirrorLabels({ vault: needs.vault, labels, commands, provenance }),
      isActive: isLeaseHolder,
      onSynced: (checkedAt) => commands.markSettled(checkedAt),
    });
  },
  wakeOn: { capability: { kind: 'files' } },
  refresh: (mirror) => mirror.refresh(),
  stop: (mirror) => mirror.stop(),
});
