import type { OpenedJournal, ReplicaRequest } from './journal.ts';
import type { JournalTables } from './journal-tables.ts';

/** Maximum number of eras to remember. A replica with an older era reads everything again. */
const MAX_ERAS = 10_000;

/**
 * Opens the journal for a replica, within a transaction (`journal.open` in shared/ports/journal-port.ts). `era`: id of this opening of the file.
 */
export function openReplica(tables: JournalTables, era: string, { position }: ReplicaRequest, now: number): OpenedJournal {
  const { id, head, schema, pruned } = tables.meta;
  tables.sql('INSERT INTO eras (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = excluded.until').run(era, head);
  tables.sql('DELETE FROM eras WHERE number <= (SELECT max(number) FROM eras) - ?').run(MAX_ERAS);
  // A position beyond the end of its era means that the file is an older copy of the one that the replica has read.
  const until = position && tables.sql('SELECT until FROM eras WHERE id = ?').get(position.era)?.until;
  const isKnown = position?.journal === id && until != null && position.seq <= Number(until);
  if (position && !isKnown) noteLoss(tables, position.journal === id, now);
  const stale = isKnown && position.seq < pruned;
  // Forgotten deletions show only by missing records, so the replica must read everything.
  const seq = isKnown && !stale ? position.seq : 0;
  return { position: { journal: id, era, seq }, head, schema, wantsAll: !isKnown, stale };
}

function noteLoss(tables: JournalTables, older: boolean, now: number): void {
  if (older) tables.note('The journal was replaced by an older copy. Hosts restore the missing changes.', now);
  // A journal that replaced another one has already noted that.
  else if (!tables.notice()) tables.note('The previous journal is missing. Hosts restore its data in this one.', now);
}
