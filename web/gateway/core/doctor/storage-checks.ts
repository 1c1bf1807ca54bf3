import { toldQuota } from '#shared/told-quota.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const NEARLY_FULL = 0.9;
const FULL = 0.98;

const share = (part: number): string => `${Math.round(part * 100)} %`;

/** Checks of the browser's storage: whether it is persistent, has room, and can be written. */
export const storageChecks = ({ vault, environment, sync, log }: DoctorDeps): Check[] => [
  {
    id: 'storage-persistent',
    title: 'Persistent storage',
    async look() {
      const persisted = await environment.persisted();
      if (persisted === true) return fine('The browser keeps your data until you delete it.');
      if (persisted === null) return wrong('info', 'The browser doesn’t report whether it keeps your data.');
      // The managed Chromium has no page that could ask for persistence.
      const hint =
        environment.host() === 'headless'
          ? undefined
          : 'Ask the browser to keep your data in Devices. Many browsers agree once the app is installed.';
      const message = 'The browser may delete your data when the disk is nearly full';
      // In this case it is a copy of the data on disk, and can be restored.
      if (sync?.state().state === 'synced') return wrong('info', `${message}. All of it is also saved to disk.`, hint);
      return wrong('warning', `${message}, and there is no other copy.`, hint);
    },
  },
  {
    id: 'storage-room',
    title: 'Browser storage space',
    async look() {
      const estimate = await environment.estimate();
      const quota = estimate && toldQuota(estimate);
      if (!quota) return wrong('info', 'The browser doesn’t report how much storage is available.');
      const used = estimate.usage / quota;
      if (used < NEARLY_FULL) return fine(`${share(used)} of the browser’s storage is used.`);
      const hint = 'Delete chats you don’t need, or free disk space. Devices shows what is used.';
      return wrong(
        used < FULL ? 'warning' : 'error',
        `${share(used)} of the browser’s storage is used. Saving will fail when it is full.`,
        hint,
      );
    },
  },
  {
    id: 'vault',
    title: 'Database',
    async look() {
      try {
        await vault.check();
        return fine('Writing and reading work.');
      } catch (error) {
        const hint = 'Reload the app. If the disk or the browser’s storage is full, free some space (see Devices).';
        return wrong('critical', `Saving fails: ${error instanceof Error ? error.message : String(error)}`, hint);
      }
    },
  },
  {
    id: 'log',
    title: 'Log storage',
    async look() {
      await log.flush();
      if (log.problem === null) return fine('The log is saved.');
      return wrong(
        'warning',
        `The newest log lines are not saved: ${log.problem}`,
        'Free storage space (see Devices). Until then, Logs still shows these lines (`logs.tail`).',
      );
    },
  },
];
