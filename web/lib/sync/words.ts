import type { HostStatus } from '#shared/ports/host.ts';
import type { AttachedHost } from '#shared/ports/journal.ts';
import type { Conflict, SyncState } from '#shared/rpc/methods/sync.ts';
import { outdated, tooNew } from './standing.ts';

/** How safe this browser's data is, for a person. */
export interface Standing {
  /** The dot's colour: on disk, not yet, in trouble, not known. */
  tone: 'good' | 'warn' | 'bad' | '';
  /** Two or three words, for a heading. */
  short: string;
  /** The dot's name. */
  title: string;
  /** What it means, and what will happen. */
  about: string;
}

/** A count with its word: `1 change`, `1,234 changes`. */
export const counted = (count: number, word: string): string => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

/** How this browser stands with the bridge's disk. `linked`: it knows a bridge. `sync`: of its own host; null where that is not known. */
export function standingOf(linked: boolean, host: HostStatus | null, sync: SyncState | null): Standing {
  if (outdated(host)) {
    return {
      tone: 'bad',
      short: 'Older than the data',
      title: 'This browser’s Perch is older than the data, and only reads',
      about: 'A newer Perch wrote the data. This browser changes nothing until it is updated; nothing is lost.',
    };
  }
  if (linked && host?.state === 'failed') {
    return {
      tone: 'bad',
      short: 'No copy in this browser',
      title: 'This browser keeps no copy of the data',
      about: `${sentence(host.problem ?? 'Its own gateway could not start')} It is tried again by itself.`,
    };
  }
  if (!linked && (!sync || sync.state === 'off')) {
    return {
      tone: '',
      short: 'In this browser alone',
      title: 'Saved in this browser alone, not on disk',
      about: 'Without a bridge everything is kept by this browser and nothing is on disk: if its data is cleared, the chats are gone.',
    };
  }
  const waiting = sync && sync.pending > 0 ? counted(sync.pending, 'change') : null;
  switch (sync?.state) {
    case 'synced':
      return {
        tone: 'good',
        short: 'On disk',
        title: 'Saved in this browser and on disk',
        about: 'Every change is stored in this browser and in the bridge’s file on disk before it counts as saved.',
      };
    case 'catching-up':
      return {
        tone: 'warn',
        short: 'Catching up',
        title: `Catching up with the disk${percentOf(sync) === null ? '' : `, ${percentOf(sync)}%`}`,
        about: 'This browser reads what it does not have yet, and writes what is not on disk yet. You can go on working.',
      };
    case 'away':
      return {
        tone: 'warn',
        short: waiting ? 'Not yet on disk' : 'The bridge is away',
        title: waiting ? `Saved in this browser, not yet on disk: ${waiting}` : 'Saved in this browser; the bridge is away',
        about: 'The bridge does not run now. What you do is kept in this browser, and goes to disk by itself when the bridge is back.',
      };
    case 'failing':
      return {
        tone: 'bad',
        short: 'The disk fails',
        title: 'Saved in this browser; writing to disk fails',
        about: `${sentence(sync.problem ?? 'The bridge’s file takes no changes now')} What you do is kept in this browser; writing is tried again by itself.`,
      };
    default:
      return {
        tone: '',
        short: 'Looking',
        title: 'Looking whether this browser’s data is on disk',
        about: 'This browser’s own copy of the data is being opened.',
      };
  }
}

/** Of the records that it has to read, how many it has, in percent; null where that is not known. */
export function percentOf({ progress }: SyncState): number | null {
  return progress && progress.total > 0 ? Math.min(100, Math.floor((100 * progress.done) / progress.total)) : null;
}

/** Why this browser reads only, in plain words, and what becomes of what was made here. */
export function outdatedWords(host: HostStatus | null, sync: SyncState | null): { what: string; waiting: string } {
  const what = tooNew(host)
    ? 'A newer Perch has changed the form of this browser’s data. This page still runs the version before it, which cannot open that data and does not touch it.'
    : 'Another browser, or the bridge, already runs a newer Perch and has written data in its form. This browser still runs the version before it, so it reads and changes nothing until it is updated.';
  if (tooNew(host)) return { what, waiting: 'Nothing is lost: what was made here is where it was.' };
  return {
    what,
    waiting: sync?.pending
      ? `Nothing is lost: ${counted(sync.pending, 'change')} made in this browser ${sync.pending === 1 ? 'waits' : 'wait'} here, and ${sync.pending === 1 ? 'goes' : 'go'} to disk after the update.`
      : 'Nothing is lost: no change made in this browser is waiting to go to disk.',
  };
}

export const kindOf = ({ kind }: Pick<AttachedHost, 'kind'>): string =>
  kind === 'headless' ? 'Managed Chromium, beside the bridge' : 'Browser with the app open';

/** What a host that is attached does. */
export const partOf = ({ holder, ready }: Pick<AttachedHost, 'holder' | 'ready'>): string =>
  holder ? 'Serves now' : ready ? 'Stands by with a full copy' : 'Catching up';

/** The two versions of a conflict, and the buttons that choose between them. */
export function conflictWords({ kind, kept }: Pick<Conflict, 'kind' | 'kept'>): {
  what: string;
  kept: string;
  aside: string;
  keep: string;
  restore: string;
} {
  if (kind === 'branch') {
    return {
      what: 'A chat went on in two places',
      kept: 'Shown now',
      aside: 'The other branch',
      keep: 'Dismiss',
      restore: 'Open the other branch',
    };
  }
  const what = { session: 'A chat’s details', setting: 'A setting', memory: 'A memory' }[kind];
  return {
    what: `${what} changed in two places`,
    kept: kept === null ? 'Deleted' : 'Used now',
    aside: 'Put aside',
    keep: kept === null ? 'Leave it deleted' : 'Keep this one',
    restore: kept === null ? 'Bring it back' : 'Use the other one',
  };
}

const STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`, seen at `now`; both in milliseconds since 1970. Clocks of two devices may differ a little: what is to come is now. */
export function ago(at: number, now: number): string {
  for (const [unit, ms] of STEPS) if (now - at >= ms) return relative.format(-Math.floor((now - at) / ms), unit);
  return 'just now';
}

const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
export const exactTime = (at: number): string => exactly.format(at);

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
