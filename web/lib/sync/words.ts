import type { HostStatus } from '#shared/ports/host.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/frame.ts';
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
      short: m.shell_sync_older(),
      title: m.shell_sync_older_title(),
      about: m.shell_sync_older_about(),
    };
  }
  if (linked && host?.state === 'failed') {
    return {
      tone: 'bad',
      short: m.shell_sync_no_copy(),
      title: m.shell_sync_no_copy_title(),
      about: host.problem === null ? m.shell_sync_no_copy_about() : m.shell_sync_no_copy_why({ problem: sentence(host.problem) }),
    };
  }
  if (!linked && (!sync || sync.state === 'off')) {
    return {
      tone: '',
      short: m.shell_sync_alone(),
      title: m.shell_sync_alone_title(),
      about: m.shell_sync_alone_about(),
    };
  }
  if (!linked && host?.cluster && (sync?.state === 'synced' || sync?.state === 'away' || sync?.state === 'failing')) return shared(sync);
  const count = sync?.pending ?? 0;
  switch (sync?.state) {
    case 'synced':
      return {
        tone: 'good',
        short: m.shell_sync_on_disk(),
        title: m.shell_sync_on_disk_title(),
        about: m.shell_sync_on_disk_about(),
      };
    case 'catching-up':
      return {
        tone: 'warn',
        short: m.shell_sync_catching_up(),
        title: catchingUp(percentOf(sync)),
        about: m.shell_sync_catching_up_about(),
      };
    case 'away':
      return {
        tone: 'warn',
        short: count > 0 ? m.shell_sync_not_on_disk() : m.shell_sync_bridge_away(),
        title: count > 0 ? m.shell_sync_not_on_disk_title({ count }) : m.shell_sync_bridge_away_title(),
        about: m.shell_sync_bridge_away_about(),
      };
    case 'failing':
      return {
        tone: 'bad',
        short: m.shell_sync_failing(),
        title: m.shell_sync_failing_title(),
        about: sync.problem === null ? m.shell_sync_failing_about() : m.shell_sync_failing_why({ problem: sentence(sync.problem) }),
      };
    default:
      return {
        tone: '',
        short: m.shell_sync_unknown(),
        title: m.shell_sync_unknown_title(),
        about: m.shell_sync_unknown_about(),
      };
  }
}

/** Over a cluster, without a bridge. */
function shared({ state, problem }: SyncState): Standing {
  if (state === 'synced')
    return { tone: 'good', short: m.shell_sync_shared(), title: m.shell_sync_shared_title(), about: m.shell_sync_shared_about() };
  return {
    tone: state === 'failing' ? 'bad' : 'warn',
    short: m.shell_sync_unshared(),
    title: m.shell_sync_unshared_title(),
    about: problem === null ? m.shell_sync_unshared_about() : m.shell_sync_failing_why({ problem: sentence(problem) }),
  };
}

/** Of the records that it has to read, how many it has, in percent; null where that is not known. */
export function percentOf({ progress }: SyncState): number | null {
  return progress && progress.total > 0 ? Math.min(100, Math.floor((100 * progress.done) / progress.total)) : null;
}

const catchingUp = (percent: number | null): string =>
  percent === null
    ? m.shell_sync_catching_up_title()
    : m.shell_sync_catching_up_percent({ percent: number(percent / 100, { style: 'percent' }) });

/** With the full stop that it may lack. */
export const sentence = (text: string): string => (/[.!?。！？؟]$/.test(text) ? text : `${text}.`);
