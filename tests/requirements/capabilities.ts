import { chosen, specified } from './requirement.ts';

/** What the bridge lends: backups, speech. */
export const capabilities = [
  specified('interface 1, section 4.1', {
    'backup/export': '`backup.export` answers `{path, files}` of one zip, and `backup.status` lists the backups with path and size.',
  }),
  chosen('decisions, "Devices, logs, system, usage, speech"', {
    'backup/restore':
      'A backup is brought back as a whole or not at all; nothing outside its folder is read; revoked devices stay revoked.',
  }),
];
