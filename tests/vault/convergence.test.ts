import fc from 'fast-check';
import { expect } from 'vitest';
import { newMessage, newRun, newSession, newUsage } from '../../web/gateway/storage/fixture.ts';
import { VaultClosedError } from '../../web/gateway/storage/open-vault.ts';
import { toSessionKey, type MessageRecord } from '../../web/gateway/storage/chat-records.ts';
import { verifies } from '../requirements.ts';
import { MemoryJournal } from '../support/memory-journal.ts';
import { TestReplica } from './test-replica.ts';

const ROUNDS = Number(process.env.PERCH_ROUNDS) || (process.env.PERCH_LONG ? 200 : 20);
const DAY = 24 * 3_600_000;

const who = fc.nat({ max: 2 });
const chat = fc.constantFrom('one', 'two').map((id) => toSessionKey('main', id));
const arbitraryStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), who, chat, picture: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename' as const), who, chat, title: fc.constantFrom('a', 'b', 'c') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), who, chat }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), who, chat }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('config' as const), who, name: fc.constantFrom('chat', 'gateway'), value: fc.nat({ max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('memory' as const), who, id: fc.constantFrom('m1', 'm2'), text: fc.constantFrom('x', 'y') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('usage' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('time' as const), who, ms: fc.nat({ max: 2_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose-journal' as const), who }) },
);
type ReplicaStep = typeof arbitraryStep extends fc.Arbitrary<infer S> ? S : never;

/** Acknowledged writes: ids of messages, and the sessions that were deleted or cleared since. */
class AcknowledgedWrites {
  readonly sentMessages = new Map<string, string>();
  readonly emptiedSessions = new Set<string>();
  next = 0;
}

async function applyStep(replica: TestReplica, it: ReplicaStep, journal: MemoryJournal, ledger: AcknowledgedWrites): Promise<void> {
  const { vault } = replica;
  switch (it.do) {
    case 'send': {
      const session = await vault.sessions.get(it.chat);
      const parent = session?.headId ? ((await vault.messages.get(session.headId)) ?? null) : null;
      const id = `message-${ledger.next++}`;
      const content: MessageRecord['content'] = it.picture
        ? [
            { type: 'text', text: id },
            { type: 'image', mimeType: 'image/png', data: btoa(id), filename: 'p.png' },
          ]
        : id;
      const question = newMessage(id, parent, { sessionKey: it.chat, content, timestamp: replica.clock.now() });
      await vault.runs.begin({
        session: session ?? newSession(it.chat, { createdAt: replica.clock.now() }),
        message: question,
        run: newRun(`run-${id}`, id, { sessionKey: it.chat, startedAt: replica.clock.now() }),
      });
      ledger.sentMessages.set(id, it.chat);
      const reply = newMessage(`re-${id}`, question, { role: 'assistant', sessionKey: it.chat });
      await vault.runs.finish({ runId: `run-${id}`, status: 'done', endedAt: replica.clock.now(), messages: [reply] });
      ledger.sentMessages.set(reply.id, it.chat);
      return;
    }
    case 'rename':
      return void (await vault.sessions.update(it.chat, { title: it.title }));
    case 'clear':
    case 'remove':
      if (await vault.sessions[it.do](it.chat)) ledger.emptiedSessions.add(it.chat);
      return;
    case 'config':
      return vault.config.write({ ...(await vault.config.read()), [it.name]: { value: it.value } });
    case 'memory':
      return vault.memories.add({ id: it.id, text: it.text, category: 'fact', createdAt: 1 });
    case 'usage':
      vault.usage.add(newUsage(`usage-${ledger.next++}`));
      return void (await vault.usage.since(0));
    case 'cut':
      return replica.disconnect();
    case 'join':
      if (!replica.connection) await replica.join(journal);
      return;
    case 'crash':
      await replica.crash();
      return replica.start();
    case 'time':
      return replica.clock.advance(it.ms);
    case 'lose-journal':
      journal.replaceJournal();
  }
}

verifies(
  ['vault.sync/converges', 'vault.sync/skew', 'vault.sync/journal-lost'],
  'three hosts, one of them a day ahead, do anything in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryStep, { minLength: 5, maxLength: 40 }), async (steps) => {
        const journal = new MemoryJournal();
        const replicas = [
          await TestReplica.open('a'),
          await TestReplica.open('b', { skew: DAY }),
          await TestReplica.open('c', { skew: -1_000 }),
        ];
        const ledger = new AcknowledgedWrites();
        for (const it of steps) {
          const replica = replicas[it.who];
          if (replica) await applyStep(replica, it, journal, ledger);
        }
        await healReplicas(replicas, journal);
        const [first, ...others] = await Promise.all(replicas.map((replica) => replica.readContent()));
        for (const other of others) expect(other).toEqual(first);
        const messages = first?.messages as Record<string, unknown>;
        for (const [id, chatKey] of ledger.sentMessages) if (!ledger.emptiedSessions.has(chatKey)) expect(messages, id).toHaveProperty(id);
        for (const { faults } of replicas) expect(faults.filter((fault) => !(fault instanceof VaultClosedError))).toEqual([]);
        for (const replica of replicas) await replica.crash();
      }),
      { numRuns: ROUNDS },
    );
  },
  300_000,
);

/** All attach; time passes until each has told and heard everything. */
async function healReplicas(replicas: readonly TestReplica[], journal: MemoryJournal): Promise<void> {
  for (let round = 0; round < 2; round++) {
    for (const replica of replicas) {
      if (!replica.connection) replica.attach(journal);
      replica.clock.advance(10_000);
      await replica.waitForSync(journal);
    }
  }
}
