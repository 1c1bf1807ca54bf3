import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { countConflicts } from '../conflicts.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** A host whose clock is further ahead than this writes things that seem to come from the future. */
const AHEAD_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
/** What happened to the journal is worth a warning for so long. */
const NOTICE_MS = 7 * DAY_MS;
const LOW_BYTES = 1024 ** 3;
const OUT_BYTES = 100 * 1024 ** 2;

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2).toLocaleString('en')} MB`;

/** The journal, the other hosts, and what they have made of the data. */
export function syncChecks({ vault, sync, clock, build, clients }: DoctorDeps): Check[] {
  let asked: ReturnType<NonNullable<typeof sync>['info']> | undefined;
  const info = async () => (await (asked ??= sync?.info() ?? Promise.resolve(null))) ?? null;
  return [
    {
      id: 'sync',
      title: 'The journal on disk',
      look() {
        const { state = 'off', pending = 0, problem = null } = sync?.state() ?? {};
        const waiting = pending > 0 ? ` ${pending} changes are in this browser alone.` : '';
        if (state === 'synced') return fine('What is acknowledged is on disk.');
        if (state === 'catching-up') return wrong('info', `The journal is being read and written.${waiting}`);
        if (state === 'off')
          return wrong('info', 'There is no bridge: the data is in this browser alone. `npm start` keeps it on disk too.');
        if (state === 'away') return wrong('warning', `The bridge is away.${waiting}`, 'Start it with `npm start`.');
        if (state === 'outdated')
          return wrong('error', problem ?? 'The data is of a newer build.', 'Reload the app to get the newer build.');
        return wrong(
          'error',
          `${problem ?? 'The journal takes nothing.'}${waiting}`,
          'Devices shows the journal; make room on its disk, or start the bridge again with `npm start`.',
        );
      },
    },
    {
      id: 'schema',
      title: 'The data’s version',
      async look() {
        const { journal } = (await info()) ?? {};
        if (sync?.state().state === 'outdated' || (journal && journal.schema > SCHEMA_VERSION)) {
          const whose = journal ? ` ${journal.schema}` : '';
          return wrong(
            'error',
            `The data has version${whose}, this build knows up to ${SCHEMA_VERSION}: it only reads.`,
            'Reload the app to get the newer build.',
          );
        }
        return fine(`All migrations are done: version ${SCHEMA_VERSION}.`);
      },
    },
    {
      id: 'conflicts',
      title: 'Versions put aside',
      async look() {
        const count = await countConflicts(vault);
        if (count === 0) return fine('No version waits for a decision.');
        return wrong(
          'warning',
          `${count === 1 ? 'A version was' : `${count} versions were`} put aside because two devices wrote apart.`,
          'Choose on the page Devices which version to keep.',
        );
      },
    },
    {
      id: 'journal',
      title: 'The journal’s health',
      async look() {
        const { journal } = (await info()) ?? {};
        if (!journal) return null;
        const recent = journal.notices.filter(({ at }) => clock.now() - at < NOTICE_MS);
        const last = recent.at(-1);
        if (!last) return fine(`${journal.records.toLocaleString('en')} records, nothing to note.`);
        return wrong('warning', last.message, 'Look at Devices, and make a copy by `npm run -s perch -- backup export`.');
      },
    },
    {
      id: 'disk',
      title: 'Room on the bridge’s disk',
      async look() {
        const { journal } = (await info()) ?? {};
        if (!journal || journal.free === null) return null;
        if (journal.free >= LOW_BYTES) return fine(`${megabytes(journal.free)} are free.`);
        const hint = 'Free space on the disk that Devices names; `npm run -s perch -- backup export --output` writes a copy elsewhere.';
        return wrong(
          journal.free < OUT_BYTES ? 'error' : 'warning',
          `Only ${megabytes(journal.free)} are free where the journal lies (${journal.path}).`,
          hint,
        );
      },
    },
    {
      id: 'host-clocks',
      title: 'The devices’ clocks',
      look() {
        const ahead = vault.ahead();
        if (ahead <= AHEAD_MS) return fine('No change comes from the future.');
        const minutes = Math.round(ahead / 60_000);
        return wrong(
          'warning',
          `A change is dated ${minutes} minutes ahead of this clock: a device’s clock is wrong, or was.`,
          'Set the clocks of the devices that the page Devices lists by the network.',
        );
      },
    },
    {
      id: 'builds',
      title: 'One build everywhere',
      async look() {
        const { hosts = [] } = (await info()) ?? {};
        const pages = clients().filter(({ app, version }) => app && version !== undefined);
        const others = [
          ...pages.filter(({ version }) => version !== build).map(({ version }) => `a page has ${version}`),
          ...hosts.filter((host) => host.build !== build).map((host) => `${host.name || 'a host'} has ${host.build}`),
        ];
        if (others.length === 0) return fine(`All that is attached is of build ${build}.`);
        return wrong(
          'warning',
          `This worker is of build ${build}; ${others.join(', ')}.`,
          'Reload the app in each tab and browser, so that all take the newest build.',
        );
      },
    },
  ];
}
