import type { MethodName, MethodParams, MethodResult } from '../../shared/rpc/methods/index.ts';
import type { WriteLedger } from './write-ledger.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Operations of a writer and their relative frequency. */
export const OPERATIONS = { send: 7, slow: 2, rename: 3, config: 2, memory: 1, remove: 1, mortal: 1 };
export type OperationKind = keyof typeof OPERATIONS;

/** A call of one writer. */
export type WriterCall = <M extends MethodName>(method: M, params: MethodParams<M>) => Promise<MethodResult<M>>;

/** Runs the `n`-th operation and records the writer's response in the ledger. */
export function runOperation(
  kind: OperationKind,
  { n, chat, random, ledger, call }: { n: number; chat: string; random: SeededRandom; ledger: WriteLedger; call: WriterCall },
): Promise<void> {
  const send = (message: string, sessionId: string, model = 'guide/guide'): Promise<{ messageId: string }> =>
    call('chat.send', { message, sessionId, model });
  switch (kind) {
    case 'send':
      return ledger.send(`message ${n}`, chat, send(`message ${n}`, chat));
    case 'slow':
      return ledger.send(`message ${n}`, chat, send(`message ${n}`, chat, random.pick(['local/slow-50', 'local/slow-500'])));
    case 'rename':
      return ledger.write(`title ${chat}`, `title ${n}`, call('sessions.rename', { path: `main/${chat}.jsonl`, title: `title ${n}` }));
    case 'config': {
      const name = `p${random.between(1, 3)}`;
      const baseUrl = `http://127.0.0.1:9/${n}`;
      return ledger.write(
        `provider ${name}`,
        baseUrl,
        call('config.patch', { patch: { providers: { [name]: { baseUrl, enabled: false } } } }),
      );
    }
    case 'memory': {
      const text = `/tool memory_add {"text":"fact ${n}"}`;
      return ledger.send(text, chat, send(text, chat));
    }
    case 'remove': {
      const session = `gone-${n}`;
      return ledger.isDeleted(
        session,
        send('soon gone', session).then(() => call('sessions.delete', { path: `main/${session}.jsonl` })),
      );
    }
    case 'mortal':
      ledger.markDeletable('mortal');
      if (random.next() < 0.6) return ledger.send(`message ${n}`, 'mortal', send(`message ${n}`, 'mortal'));
      return call('sessions.delete', { path: 'main/mortal.jsonl' }).then(
        () => {},
        () => {},
      );
  }
}
