import { type PortClient, createPortClient } from '#shared/link/port-calls.ts';
import { textLink } from '#shared/link/text-link.ts';
import { type JournalContracts, journalContracts, type JournalEvents, journalEvents } from '#shared/ports/journal-port.ts';
import { JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import type { FakeHost } from './fake-host.ts';

/** Client of the journal's port for a host, with the received events. */
export interface JournalClient extends PortClient<JournalContracts, JournalEvents> {
  readonly events: { event: keyof JournalEvents; payload: unknown }[];
  /** Opens the journal as this origin and reports that it has caught up. */
  catchUp(origin: string, schema?: number): Promise<void>;
}

export function createJournalClient(host: FakeHost): JournalClient {
  const link = textLink(host.mux.open({ kind: JOURNAL_KIND }), () => 64 * 1024 * 1024);
  const calls = createPortClient<JournalContracts, JournalEvents>(link, journalContracts, journalEvents);
  const events: JournalClient['events'] = [];
  for (const event of Object.keys(journalEvents) as (keyof JournalEvents)[]) calls.on(event, (payload) => events.push({ event, payload }));
  return {
    ...calls,
    events,
    async catchUp(origin, schema = 1) {
      const { head } = await calls.call('journal.open', { origin, schema, position: null });
      await calls.call('journal.ready', { seq: head });
    },
  };
}
