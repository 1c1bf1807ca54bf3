import { defineModule } from '../../system/modules.ts';
import type { ConfigFileDeps } from './config-file.ts';

type ConfigFileNeeds = Omit<ConfigFileDeps, 'isActive' | 'onServersTyped'> & {
  isLeaseHolder(): boolean;
  onServersTyped: ConfigFileDeps['onServersTyped'] & {};
};

/** Keeps the configuration file and the configuration in sync. */
export const configFileModule = defineModule<ConfigFileNeeds>()({
  name: 'configFile',
  needs: ['bridge', 'config', 'hub', 'clock', 'sync', 'isLeaseHolder', 'onServersTyped', 'fault'],
  load: async (needs) => new (await import('./config-file.ts')).ConfigFile({ ...needs, isActive: needs.isLeaseHolder }),
  wakeOn: { capability: { kind: 'config-file' } },
  refresh: (file) => file.refresh(),
  stop: (file) => file.stop(),
});
