import type { HostStatus } from '#shared/ports/host.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';
import { outdated } from './standing.ts';

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

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
