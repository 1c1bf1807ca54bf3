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

/** Log of a vault. Its host reads it from the ring buffer. */
export interface VaultLog {
  ring: LogRing;
  log(line: string): void;
}

/** An opened vault, ready to be served by a bridge. */
export interface OpenVault {
  /** To be closed after the bridge, whose hosts may push until they are dismissed. */
  journal: Journal;
  vaultKey: string;
  /** How attached browsers can reach the vault's cluster while this bridge is away; undefined if they can't. */
  browserWay: (() => Promise<BrowserWay | null>) | undefined;
  /** Set if the vault is shared with other machines. */
  shared: SharedJournal | undefined;
}

/**
 * Options for bridges that serve the vault together: the cluster's settings, and how long a write waits for its acknowledgement in
 * milliseconds.
 */
export interface Together {
  settings(kept: NatsSettings | undefined): NatsSettings | undefined;
  confirmMs: number;
}

/** Opens a vault. Rejects with an error for the user if it can't be read. */
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

/** Loads the sync code only if the vault is shared. */
async function shareJournal(options: Omit<SharedJournalOptions, 'resolve' | 'log'>, { ring, log }: VaultLog): Promise<SharedJournal> {
  const { SharedJournal } = await import('../sync/shared-journal.ts');
  return new SharedJournal({ ...options, resolve: hiddenText(options.dir, ring), log });
}

/** Resolves a setting's text or the secret that it refers to, which is redacted from the log from then on. */
const hiddenText =
  (dir: string, ring: LogRing): ResolveSecret =>
  async (setting) => {
    const { secretText } = await import('../sync/secret-text.ts');
    const secret = await secretText(dir, setting);
    ring.hide([secret]);
    return secret;
  };
