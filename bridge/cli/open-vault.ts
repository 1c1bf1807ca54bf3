import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import { getBackupsDir, type Home } from '../home-directory.ts';
import { openJournal } from '../journal/open-journal.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { removeTempFiles } from '../temp-cleanup.ts';
import type { LogRing } from '../log-ring.ts';
import type { Journal } from '../journal/journal.ts';
import type { ResolveSecret } from '../sync/cluster-connection.ts';
import type { SharedJournal, SharedJournalOptions } from '../sync/shared-journal.ts';
import { type NatsSettings, readSyncSettings } from '../sync/sync-settings.ts';
import { CommandError, toErrorLine } from './command-error.ts';

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
  browserWay: (() => Promise<BrowserTransport | null>) | undefined;
  /** Set if the vault is shared with other machines. */
  shared: SharedJournal | undefined;
}

/**
 * Options for bridges that serve the vault together: the cluster's settings, and how long a write waits for its acknowledgement in
 * milliseconds.
 */
export interface SharedVaultOptions {
  settings(storedSettings: NatsSettings | undefined): NatsSettings | undefined;
  confirmMs: number;
}

/** Opens a vault. Rejects with an error for the user if it can't be read. */
export async function openVault({ dir }: Home, { ring, log }: VaultLog, together?: SharedVaultOptions): Promise<OpenVault> {
  const key = await loadVaultKey(dir, log);
  const storedSettings = await readSyncSettings(dir, log).catch((error: unknown) => {
    throw new CommandError(toErrorLine(error), 1, { cause: error });
  });
  const nats = together ? together.settings(storedSettings) : storedSettings;
  const embedded = await openJournal({ dir, vaultKey: key, log });
  const shared =
    nats && (await shareJournal({ journal: embedded, dir, vaultKey: key, nats, confirmMs: together?.confirmMs ?? 0 }, { ring, log }));
  for (const each of [dir, getBackupsDir(dir)]) await removeTempFiles(each, { now: Date.now(), warn: log });
  const browserTransport =
    nats && (async () => (await import('../sync/browser-transport.ts')).getBrowserTransport(nats, resolveHiddenText(dir, ring)));
  return { journal: shared ?? embedded, vaultKey: key, browserWay: browserTransport, shared };
}

/** Loads the sync code only if the vault is shared. */
async function shareJournal(options: Omit<SharedJournalOptions, 'resolve' | 'log'>, { ring, log }: VaultLog): Promise<SharedJournal> {
  const { SharedJournal } = await import('../sync/shared-journal.ts');
  return new SharedJournal({ ...options, resolve: resolveHiddenText(options.dir, ring), log });
}

/** Resolves a setting's text or the secret that it refers to, which is redacted from the log from then on. */
const resolveHiddenText =
  (dir: string, ring: LogRing): ResolveSecret =>
  async (setting) => {
    const { resolveSecretText } = await import('../sync/secret-text.ts');
    const secret = await resolveSecretText(dir, setting);
    ring.hide([secret]);
    return secret;
  };
