import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MessageRecord } from './chat-records.ts';
import { TEST_VAULT_KEY, newMessage, newRun, newSession, createTestVault } from './fixture.ts';
import { computeExportBytes } from './session-totals.ts';

/** Reference model of one session: everything in maps, branches found by walking all the way up. */
class ReferenceModel {
  exists = false;
  head: string | null = null;
  readonly messages = new Map<string, MessageRecord>();
  readonly active = new Map<string, string>();

  above(id: string | null): MessageRecord[] {
    const message = id === null ? undefined : this.messages.get(id);
    return message ? [...this.above(message.parentId), message] : [];
  }

  /** For messages with siblings under the same parent. */
  versions(branch: readonly MessageRecord[]): Record<string, string[]> {
    const all = [...this.messages.values()];
    const siblings = branch.map(({ id, parentId }) => [id, all.filter((other) => other.parentId === parentId)] as const);
    const order = (a: MessageRecord, b: MessageRecord): number => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1);
    return Object.fromEntries(
      siblings.flatMap(([id, others]) => (others.length > 1 ? [[id, others.sort(order).map((each) => each.id)]] : [])),
    );
  }

  /** The end of the branch through a message: the newest message below it. */
  lastThrough(id: string): string | undefined {
    const all = [...this.messages.values()];
    const ends = all.filter((end) => this.above(end.id).some((each) => each.id === id) && !all.some(({ parentId }) => parentId === end.id));
    const last = Math.max(...ends.map(({ timestamp }) => timestamp));
    return ends.find(({ timestamp }) => timestamp === last)?.id;
  }

  add(message: MessageRecord): void {
    this.messages.set(message.id, message);
  }

  empty(): void {
    this.head = null;
    this.messages.clear();
  }
}

const pick = fc.nat({ max: 1_000 });
const runStep = fc.oneof(
  { weight: 20, arbitrary: fc.record({ do: fc.constant('send' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('edit' as const), pick }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('resend' as const), pick }) },
  { weight: 25, arbitrary: fc.record({ do: fc.constant('finish' as const), pick, replies: fc.nat({ max: 3 }) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('choose' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const) }) },
);

test('whatever is sent, edited, resent, finished, chosen, cleared and removed: every page of every branch is what a plain model says', async () => {
  const page = fc.record({ limit: fc.integer({ min: 1, max: 6 }), pick });
  await fc.assert(
    fc.asyncProperty(
      fc.array(runStep, { maxLength: 40, size: 'max' }),
      fc.array(page, { minLength: 3, maxLength: 6 }),
      async (steps, pages) => {
        await using vault = await createTestVault();
        const model = new ReferenceModel();
        for (const [at, todo] of steps.entries()) {
          const questions = [...model.messages.values()].filter(({ role }) => role === 'user');
          const chosen = 'pick' in todo ? questions[todo.pick % Math.max(1, questions.length)] : undefined;
          if (todo.do === 'send' || (todo.do === 'edit' && chosen)) {
            const parentId = chosen ? chosen.parentId : model.head;
            const message = newMessage(`m${at}`, (parentId !== null && model.messages.get(parentId)) || null, { timestamp: at });
            await vault.runs.begin({ session: newSession(), message, run: newRun(`r${at}`, message.id) });
            model.add(message);
            model.head = message.id;
            model.exists = true;
            model.active.set(`r${at}`, message.id);
          } else if (todo.do === 'resend' && chosen) {
            await vault.runs.begin({ session: newSession(), message: null, run: newRun(`r${at}`, chosen.id) });
            model.head = chosen.id;
            model.active.set(`r${at}`, chosen.id);
          } else if (todo.do === 'finish' && model.active.size > 0) {
            const [runId = '', questionId = ''] = [...model.active][todo.pick % model.active.size] ?? [];
            const question = model.messages.get(questionId);
            const messages: MessageRecord[] = [];
            for (let n = 0; n < todo.replies; n++) {
              const parent = messages.at(-1) ?? question ?? newMessage(questionId, null);
              messages.push(newMessage(`m${at}-${n}`, parent, { role: 'assistant', timestamp: at }));
            }
            await vault.runs.finish({ runId, status: 'done', endedAt: 3_000, messages });
            model.active.delete(runId);
            const last = messages.at(-1);
            if (question && last) {
              messages.forEach((message) => model.add(message));
              if (model.above(question.id).some(({ id }) => id === model.head)) model.head = last.id;
            }
          } else if (todo.do === 'choose') {
            const some = [...model.messages.values()][todo.pick % Math.max(1, model.messages.size)];
            expect(await vault.messages.selectBranch(TEST_VAULT_KEY, some?.id ?? 'none')).toBe(some && model.lastThrough(some.id));
            if (some) model.head = model.lastThrough(some.id) ?? null;
          } else if (todo.do === 'clear') {
            expect(await vault.sessions.clear(TEST_VAULT_KEY)).toBe(model.exists);
            model.empty();
          } else if (todo.do === 'remove') {
            expect(await vault.sessions.remove(TEST_VAULT_KEY)).toBe(model.exists);
            model.empty();
            model.exists = false;
          }
          expect((await vault.sessions.get(TEST_VAULT_KEY))?.headId ?? null).toBe(model.head);
        }

        const all = [...model.messages.values()];
        const session = await vault.sessions.get(TEST_VAULT_KEY);
        expect(session !== undefined).toBe(model.exists);
        if (session) {
          expect(session).toMatchObject({ headId: model.head, messageCount: all.length });
          expect(session.size).toBe(all.reduce((sum, message) => sum + computeExportBytes(message), 0));
        }
        for (const { limit, pick: at } of [...pages, { limit: 1_000, pick: 0 }]) {
          const whole = model.above(model.head);
          const head = await vault.messages.branch(TEST_VAULT_KEY, { limit });
          expect(head).toEqual({
            messages: whole.slice(-limit),
            more: whole.length > limit,
            versions: model.versions(whole.slice(-limit)),
            unread: {},
          });
          const before = all[at % Math.max(1, all.length)];
          if (!before) continue;
          const upper = model.above(before.parentId);
          const earlier = await vault.messages.branch(TEST_VAULT_KEY, { limit, before: before.id });
          expect(earlier).toEqual({
            messages: upper.slice(-limit),
            more: upper.length > limit,
            versions: model.versions(upper.slice(-limit)),
            unread: {},
          });
        }
        expect((await vault.messages.recent(1_000)).length).toBe(all.length);
        expect((await vault.runs.unfinished()).map(({ id }) => id).sort()).toEqual([...model.active.keys()].sort());
      },
    ),
    { numRuns: process.env['PERCH_LONG'] ? 2_000 : 150 },
  );
}, 120_000);
