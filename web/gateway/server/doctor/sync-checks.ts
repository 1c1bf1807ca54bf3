import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { countConflicts } from '../../system/conflicts.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

/** Clock difference above which a host's writes seem to come from the future. */
const MAX_AHEAD_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
/** Period in which a past event of the journal causes a warning. */
const NOTICE_MS = 7 * DAY_MS;
const MIN_FREE_BYTES = 1024 ** 3;
const ERROR_FREE_BYTES = 100 * 1024 ** 2;

const GIB = 1024 ** 3;
const formatFreeSpace = (bytes: number): string =>
  bytes < GIB ? `${Math.floor(bytes / 1024 ** 2)} MB` : `${(bytes / GIB).toLocaleString('en', { maximumFractionDigits: 1 })} GB`;

/** Checks of the journal, the other hosts, and their data. */
export function syncChecks({ vault, sync, clock, build, clients }: DoctorDeps): HealthCheck[] {
  let pendingInfo: ReturnType<NonNullable<typeof sync>['info']> | undefined;
  const getInfo = async () => (await (pendingInfo ??= sync?.info() ?? Promise.resolve(null))) ?? null;
  return [
    {
      id: 'sync',
      title: 'Saved to disk',
      run() {
        const { state = 'off', pending = 0, problem = null } = sync?.state() ?? {};
        const waiting = pending > 0 ? ` ${pending} changes are only in this browser.` : '';
        if (state === 'synced') return reportOk('All changes are saved to disk.');
        if (state === 'catching-up') return reportProblem('info', `Syncing with the disk.${waiting}`);
        if (state === 'off')
          return reportProblem(
            'info',
            'Your data is only in this browser. Start Perch on your computer with `perch gateway run` to save it to disk too.',
          );
        if (state === 'away')
          return reportProblem('warning', `Perch isn’t running on your computer.${waiting}`, 'Start it with `perch gateway run`.');
        if (state === 'outdated')
          return reportProblem('error', problem ?? 'The data was written by a newer version of Perch.', 'Reload the app to update it.');
        return reportProblem(
          'error',
          `${problem ?? 'Perch can’t write to its file on your computer.'}${waiting}`,
          'Free space on the disk (see Devices), or restart Perch with `perch gateway run`.',
        );
      },
    },
    {
      id: 'schema',
      title: 'Data version',
      async run() {
        const { journal } = (await getInfo()) ?? {};
        if (sync?.state().state === 'outdated' || (journal && journal.schema > SCHEMA_VERSION)) {
          const versionSuffix = journal ? ` ${journal.schema}` : '';
          return reportProblem(
            'error',
            `The data has version${versionSuffix}, but this version of Perch supports up to ${SCHEMA_VERSION}. It is read-only.`,
            'Reload the app to update it.',
          );
        }
        return reportOk(`Up to date: version ${SCHEMA_VERSION}.`);
      },
    },
    {
      id: 'conflicts',
      title: 'Sync conflicts',
      async run() {
        const count = await countConflicts(vault);
        if (count === 0) return reportOk('No sync conflicts.');
        return reportProblem(
          'warning',
          `${count === 1 ? '1 sync conflict' : `${count} sync conflicts`} between two devices.`,
          'Choose in Devices which version to keep.',
        );
      },
    },
    {
      id: 'journal',
      title: 'Data on disk',
      async run() {
        const { journal } = (await getInfo()) ?? {};
        if (!journal) return null;
        const recent = journal.notices.filter(({ at }) => clock.now() - at < NOTICE_MS);
        const last = recent.at(-1);
        if (!last) return reportOk(`${journal.records.toLocaleString('en')} records, no problems.`);
        return reportProblem('warning', last.message, 'Check Devices, and create a backup with `perch backup export`.');
      },
    },
    {
      id: 'disk',
      title: 'Disk space',
      async run() {
        const { journal } = (await getInfo()) ?? {};
        if (!journal || journal.free === null) return null;
        if (journal.free >= MIN_FREE_BYTES) return reportOk(`${formatFreeSpace(journal.free)} free.`);
        const hint = 'Free space on this disk. To back up to another disk, use `perch backup export --output`.';
        return reportProblem(
          journal.free < ERROR_FREE_BYTES ? 'error' : 'warning',
          `Only ${formatFreeSpace(journal.free)} free on the disk of your data (${journal.path}).`,
          hint,
        );
      },
    },
    {
      id: 'host-clocks',
      title: 'Device clocks',
      run() {
        const clockLeadMs = vault.getClockLead();
        if (clockLeadMs <= MAX_AHEAD_MS) return reportOk('No device’s clock is ahead.');
        const minutes = Math.round(clockLeadMs / 60_000);
        return reportProblem(
          'warning',
          `A change is dated ${minutes} minutes in the future. The clock of a device is or was wrong.`,
          'Turn on automatic time on the devices listed in Devices.',
        );
      },
    },
    {
      id: 'builds',
      title: 'App versions',
      async run() {
        const { hosts = [] } = (await getInfo()) ?? {};
        const pages = clients().filter(({ app, version }) => app && version !== undefined);
        const others = [
          ...pages.filter(({ version }) => version !== build).map(({ version }) => `a tab runs ${version}`),
          ...hosts.filter((host) => host.build !== build).map((host) => `${host.name || 'a device'} runs ${host.build}`),
        ];
        if (others.length === 0) return reportOk('All tabs and devices run the same version.');
        return reportProblem(
          'warning',
          `This app runs build ${build}, but ${others.join(', ')}.`,
          'Reload the app in every tab and browser.',
        );
      },
    },
  ];
}
