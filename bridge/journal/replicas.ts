import type { Opened, Replica } from './journal.ts';
import type { Tables } from './tables.ts';

/** Eras that are remembered: a replica whose last one is forgotten reads everything again. */
const ERAS = 10_000;

/** What a replica has to do, in a transaction (`journal.open` in shared/ports/journal.ts). `era`: this opening of the journal. */
export function openReplica(tables: Tables, era: string, { position }: Replica, now: number): Opened {
  const { id, head, schema, pruned } = tables.meta;
  tables.sql('INSERT INTO eras (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = excluded.until').run(era, head);
  tables.sql('DELETE FROM eras WHERE number <= (SELECT max(number) FROM eras) - ?').run(ERAS);
  // Behind the newest number that its era has come to: the file is an older copy of the one that the replica has read.
  const until = position && tables.sql('SELECT until FROM eras WHERE id = ?').get(position.era)?.until;
  const known = position?.journal === id && until != null && position.seq <= Number(until);
  if (position && !known) noteLoss(tables, position.journal === id, now);
  const stale = known && position.seq < pruned;
  // What was deleted meanwhile is found by what is missing, so that all must be read.
  const seq = known && !stale ? position.seq : 0;
  return { position: { journal: id, era, seq }, head, schema, wantsAll: !known, stale };
}

function noteLoss(tables: Tables, older: boolean, now: number): void {
  if (older) tables.note('The journal was replaced by an older copy. Hosts restore the missing changes.', now);
  // A journal that took another's place has said so.
  else if (!tables.notice()) tables.note('The previous journal is missing. Hosts restore its data in this one.', now);
}
