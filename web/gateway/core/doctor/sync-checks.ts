import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { countConflicts } from '../conflicts.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Clock difference above which a host's writes seem to come from the future. */
const AHEAD_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
/** Period in which a past event of the journal causes a warning. */
const NOTICE_MS = 7 * DAY_MS;
const LOW_BYTES = 1024 ** 3;
const OUT_BYTES = 100 * 1024 ** 2;

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2).toLocaleString('en')} MB`;

/** Checks of the journal, the other hosts, and their data. */
export function syncChecks({ vault, sync, clock, build, clients }: DoctorDeps): Check[] {
  let asked: ReturnType<NonNullable<typeof sync>['info']> | undefined;
  const info = async () => (await (asked ??= sync?.info() ?? Promise.resolve(null))) ?? null;
  return [
    {
      id: 'sync',
      title: 'Saved to disk',
      look() {
        const { state = 'off', pending = 0, problem = null } = sync?.state() ?? {};
        const waiting = pending > 0 ? ` ${pending} changes are only in this browser.` : '';
        if (state === 'synced') return fine('All changes are saved to disk.');
        if (state === 'catching-up') return wrong('info', `Syncing with the disk.${waiting}`);
        if (state === 'off')
          return wrong(
            'info',
            'The bridge is not running, so your data is only in this browser. Start Perch with `perch gateway run` to save it to disk too.',
          );
        if (state === 'away') return wrong('warning', `The bridge is not running.${waiting}`, 'Start it with `perch gateway run`.');
        if (state === 'outdated')
          return wrong('error', problem ?? 'The data was written by a newer version of Perch.', 'Reload the app to update it.');
        return wrong(
          'error',
          `${problem ?? 'The journal can’t be written.'}${waiting}`,
          'Free space on the disk of the journal (see Devices), or restart the bridge with `perch gateway run`.',
        );
      },
    },
    {
      id: 'schema',
      title: 'Data version',
      async look() {
        const { journal } = (await info()) ?? {};
        if (sync?.state().state === 'outdated' || (journal && journal.schema > SCHEMA_VERSION)) {
          const whose = journal ? ` ${journal.schema}` : '';
          return wrong(
            'error',
            `The data has version${whose}, but this version of Perch supports up to ${SCHEMA_VERSION}. It is read-only.`,
            'Reload the app to update it.',
          );
        }
        return fine(`Up to date: version ${SCHEMA_VERSION}.`);
      },
    },
    {
      id: 'conflicts',
      title: 'Sync conflicts',
      async look() {
        const count = await countConflicts(vault);
        if (count === 0) return fine('No sync conflicts.');
        return wrong(
          'warning',
          `${count === 1 ? '1 sync conflict' : `${count} sync conflicts`} between two devices.`,
          'Choose in Devices which version to keep.',
        );
      },
    },
    {
      id: 'journal',
      title: 'Journal health',
      async look() {
        const { journal } = (await info()) ?? {};
        if (!journal) return null;
        const recent = journal.notices.filter(({ at }) => clock.now() - at < NOTICE_MS);
        const last = recent.at(-1);
        if (!last) return fine(`${journal.records.toLocaleString('en')} records, no problems.`);
        return wrong('warning', last.message, 'Check Devices, and create a backup with `perch backup export`.');
      },
    },
    {
      id: 'disk',
      title: 'Disk space',
      async look() {
        const { journal } = (await info()) ?? {};
        if (!journal || journal.free === null) return null;
        if (journal.free >= LOW_BYTES) return fine(`${megabytes(journal.free)} free.`);
        const hint = 'Free space on this disk. To back up to another disk, use `perch backup export --output`.';
        return wrong(
          journal.free < OUT_BYTES ? 'error' : 'warning',
          `Only ${megabytes(journal.free)} free on the disk of the journal (${journal.path}).`,
          hint,
        );
      },
    },
    {
      id: 'host-clocks',
      title: 'Device clocks',
      look() {
        const ahead = vault.ahead();
        if (ahead <= AHEAD_MS) return fine('No device’s clock is ahead.');
        const minutes = Math.round(ahead / 60_000);
        return wrong(
          'warning',
          `A change is dated ${minutes} minutes in the future. The clock of a device is or was wrong.`,
          'Turn on automatic time on the devices listed in Devices.',
        );
      },
    },
    {
      id: 'builds',
      title: 'App versions',
      async look() {
        const { hosts = [] } = (await info()) ?? {};
        const pages = clients().filter(({ app, version }) => app && version !== undefined);
        const others = [
          ...pages.filter(({ version }) => version !== build).map(({ version }) => `a tab runs ${version}`),
          ...hosts.filter((host) => host.build !== build).map((host) => `${host.name || 'a device'} runs ${host.build}`),
        ];
        if (others.length === 0) return fine(`All tabs and devices run build ${build}.`);
        return wrong('warning', `This app runs build ${build}, but ${others.join(', ')}.`, 'Reload the app in every tab and browser.');
      },
    },
  ];
}
