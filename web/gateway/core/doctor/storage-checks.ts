import { toldQuota } from '#shared/told-quota.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const NEARLY_FULL = 0.9;
const FULL = 0.98;

const share = (part: number): string => `${Math.round(part * 100)} %`;

/** The browser's own storage: whether it is kept, has room, and takes what is written. */
export const storageChecks = ({ vault, environment, sync, log }: DoctorDeps): Check[] => [
  {
    id: 'storage-persistent',
    title: 'Storage is kept',
    async look() {
      const persisted = await environment.persisted();
      if (persisted === true) return fine('The browser keeps the data until it is deleted by hand.');
      if (persisted === null) return wrong('info', 'The browser does not say whether it keeps the data.');
      // The managed Chromium has no page in which it could be asked.
      const hint =
        environment.host() === 'headless'
          ? undefined
          : 'Open Settings → Storage and choose “Ask to keep it”; many browsers agree once the app is installed.';
      const message = 'The browser may delete the data when the disk is nearly full';
      // Then it is a copy of what is on disk, and is filled again.
      if (sync?.state().state === 'synced') return wrong('info', `${message}; the bridge’s journal has all of it.`, hint);
      return wrong('warning', `${message}, and there is no other copy at hand.`, hint);
    },
  },
  {
    id: 'storage-room',
    title: 'Room in the browser',
    async look() {
      const estimate = await environment.estimate();
      const quota = estimate && toldQuota(estimate);
      if (!quota) return wrong('info', 'The browser does not say how much room there is.');
      const used = estimate.usage / quota;
      if (used < NEARLY_FULL) return fine(`${share(used)} of the browser’s room is used.`);
      const hint = 'Delete chats that are not needed, or free disk space; Settings → Storage shows what is used.';
      return wrong(
        used < FULL ? 'warning' : 'error',
        `${share(used)} of the browser’s room is used: soon nothing more can be stored.`,
        hint,
      );
    },
  },
  {
    id: 'vault',
    title: 'The database takes what is written',
    async look() {
      try {
        await vault.check();
        return fine('Something was written and read back.');
      } catch (error) {
        const hint = 'Reload the app. Where the disk or the browser is full, make room, as Settings → Storage shows.';
        return wrong('critical', `Nothing can be stored: ${error instanceof Error ? error.message : String(error)}`, hint);
      }
    },
  },
  {
    id: 'log',
    title: 'The log is stored',
    async look() {
      await log.flush();
      if (log.problem === null) return fine('The log is stored.');
      return wrong(
        'warning',
        `The newest lines are in memory alone: ${log.problem}`,
        'Make room, as Settings → Storage shows; the page Logs has them until then (`logs.tail`).',
      );
    },
  },
];
