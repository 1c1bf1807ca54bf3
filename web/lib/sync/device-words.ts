import type { AttachedHost } from '#shared/ports/journal.ts';
import type { Scope } from '#shared/rpc/contract.ts';
import type { Conflict } from '#shared/rpc/methods/sync.ts';
import { m } from '#lib/i18n/pages.ts';

export const kindOf = ({ kind }: Pick<AttachedHost, 'kind'>): string =>
  kind === 'headless' ? 'Managed Chromium, beside the bridge' : 'Browser with the app open';

/** What a host that is attached does. */
export const partOf = ({ holder, ready }: Pick<AttachedHost, 'holder' | 'ready'>): string =>
  holder ? 'Serves now' : ready ? 'Stands by with a full copy' : 'Catching up';

/** What a device may do that was given these scopes. */
export const rightsOf = (scopes: readonly Scope[]): string =>
  scopes.includes('admin') ? 'May do everything' : scopes.includes('write') ? 'May read and write' : 'May read';

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
  const what = { session: 'A chat’s details', setting: 'A setting', memory: 'A memory', file: 'A file' }[kind];
  return {
    what: `${what} changed in two places`,
    kept: kept === null ? 'Deleted' : 'Used now',
    aside: 'Put aside',
    keep: kept === null ? 'Leave it deleted' : 'Keep this one',
    restore: kept === null ? 'Bring it back' : 'Use the other one',
  };
}

export { ago, exactTime } from './ago.ts';
