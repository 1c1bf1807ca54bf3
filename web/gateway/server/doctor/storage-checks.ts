import { getReportedQuota } from '#shared/reported-quota.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

const WARNING_RATIO = 0.9;
const ERROR_RATIO = 0.98;

const formatPercent = (part: number): string => `${Math.round(part * 100)} %`;

/** Checks of the browser's storage: whether it is persistent, has room, and can be written. */
export const storageChecks = ({ vault, environment, sync, log }: DoctorDeps): HealthCheck[] => [
  {
    id: 'storage-persistent',
    title: 'Persistent storage',
    async run() {
      const persisted = await environment.persisted();
      if (persisted === true) return reportOk('The browser keeps your data until you delete it.');
      if (persisted === null) return reportProblem('info', 'The browser doesn’t report whether it keeps your data.');
      // The managed Chromium has no page that could ask for persistence.
      const hint =
        environment.host() === 'headless'
          ? undefined
          : 'In the app, open Devices and click Keep my data. Many browsers agree once the app is installed.';
      const message = 'The browser may delete your data when the disk is nearly full';
      // In this case it is a copy of the data on disk, and can be restored.
      if (sync?.state().state === 'synced') return reportProblem('info', `${message}. All of it is also saved to disk.`, hint);
      return reportProblem('warning', `${message}, and there is no other copy.`, hint);
    },
  },
  {
    id: 'storage-room',
    title: 'Browser storage space',
    async run() {
      const estimate = await environment.estimate();
      const quota = estimate && getReportedQuota(estimate);
      if (!quota) return reportProblem('info', 'The browser doesn’t report how much storage is available.');
      const usageRatio = estimate.usage / quota;
      if (usageRatio < WARNING_RATIO) return reportOk(`${formatPercent(usageRatio)} of the browser’s storage is used.`);
      const hint = 'Delete chats you don’t need, or free disk space. Devices shows what is used.';
      return reportProblem(
        usageRatio < ERROR_RATIO ? 'warning' : 'error',
        `${formatPercent(usageRatio)} of the browser’s storage is used. Saving will fail when it is full.`,
        hint,
      );
    },
  },
  {
    id: 'vault',
    title: 'Database',
    async run() {
      try {
        await vault.check();
        return reportOk('Writing and reading work.');
      } catch (error) {
        const hint = 'Reload the app. If the disk or the browser’s storage is full, free some space (see Devices).';
        return reportProblem('critical', `Saving fails: ${error instanceof Error ? error.message : String(error)}`, hint);
      }
    },
  },
  {
    id: 'log',
    title: 'Log storage',
    async run() {
      await log.flush();
      if (log.problem === null) return reportOk('The log is saved.');
      return reportProblem(
        'warning',
        `The newest log lines are not saved: ${log.problem}`,
        'Free storage space (see Devices). Until then, Logs still shows these lines (`logs.tail`).',
      );
    },
  },
];
