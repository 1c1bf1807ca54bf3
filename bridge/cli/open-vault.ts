import type { BrowserWay } from '#shared/sync/nats/way.ts';
import { backupsDir, type Home } from '../home.ts';
import { openJournal } from '../journal/open.ts';
import { vaultKey } from '../journal/vault-key.ts';
import { sweepLeftovers } from '../leftovers.ts';
import type { LogRing } from '../log-ring.ts';
import type { Journal } from '../journal/journal.ts';
import type { ResolveSecret } from '../sync/connection.ts';
import type { SharedJournal, SharedJournalOptions } from '../sync/shared-journal.ts';
import { type NatsSettings, readSyncSettings } from '../sync/settings.ts';
import { CommandError, lineOf } from './errors.ts';

/** Where what is said of a vault goes: its ring has it for its host to read. */
export interface VaultLog {
  ring: LogRing;
  log(line: string): void;
}

/** What a vault keeps on disk, opened for a bridge to serve it. */
export interface OpenVault {
  /** Closed behind the bridge, whose hosts may push until they are told. */
  journal: Journal;
  vaultKey: string;
  /** How attached browsers reach the cluster that it is shared over, when this bridge is not there; without it: not at all. */
  browserWay: (() => Promise<BrowserWay | null>) | undefined;
  /** Where it is shared with other machines. */
  shared: SharedJournal | undefined;
}

/** Where bridges serve the vault together: over which servers, and for how long a write waits for these, milliseconds. */
export interface Together {
  settings(kept: NatsSettings | undefined): NatsSettings | undefined;
  confirmMs: number;
}

/** Opens a vault. Rejects, with a sentence for people, where it cannot be read. */
export async function openVault({ dir }: Home, { ring, log }: VaultLog, together?: Together): Promise<OpenVault> {
  const key = await vaultKey(dir, log);
  const kept = await readSyncSettings(dir, log).catch((error: unknown) => {
    throw new CommandError(lineOf(error), 1, { cause: error });
  });
  const nats = together ? together.settings(kept) : kept;
  const embedded = await openJournal({ dir, vaultKey: key, log });
  const shared =
    nats && (await shareJournal({ journal: embedded, dir, vaultKey: key, nats, confirmMs: together?.confirmMs ?? 0 }, { ring, log }));
  for (const each of [dir, backupsDir(dir)]) await sweepLeftovers(each, { now: Date.now(), warn: log });
  const browserWay = nats && (async () => (await import('../sync/browser-way.ts')).browserWayOf(nats, hiddenText(dir, ring)));
  return { journal: shared ?? embedded, vaultKey: key, browserWay, shared };
}

/** What shares the vault is loaded where it is shared. */
async function shareJournal(options: Omit<SharedJournalOptions, 'resolve' | 'log'>, { ring, log }: VaultLog): Promise<SharedJournal> {
  const { SharedJournal } = await import('../sync/shared-journal.ts');
  return new SharedJournal({ ...options, resolve: hiddenText(options.dir, ring), log });
}

/** A setting's text, or the secret that it refers to, which no log shows from then on. */
const hiddenText =
  (dir: string, ring: LogRing): ResolveSecret =>
  async (setting) => {
    const { secretText } = await import('../sync/secret-text.ts');
    const secret = await secretText(dir, setting);
    ring.hide([secret]);
    return secret;
  };
