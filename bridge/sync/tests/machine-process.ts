// A machine of a vault in its own process, which can be killed. Answers requests of its parent (remote-machine.ts).
import { z } from '#shared/rpc/zod.ts';
import { syncRecord } from '#shared/sync/record.ts';
import { startMachine, createSettings } from './test-machine.ts';

const setting = z.object({ urls: z.array(z.string()), dir: z.string(), vaultKey: z.string(), holder: z.string() });
const question = z.discriminatedUnion('ask', [
  z.object({ id: z.number(), ask: z.literal('push'), records: z.array(syncRecord) }),
  z.object({ id: z.number(), ask: z.literal('contents') }),
  z.object({ id: z.number(), ask: z.literal('take'), name: z.string(), ttlMs: z.number() }),
  z.object({ id: z.number(), ask: z.literal('examine') }),
]);

const { urls, dir, vaultKey, holder } = setting.parse(JSON.parse(process.argv[2] ?? ''));
const machine = await startMachine(createSettings(urls), { vaultKey, dir, log: (line) => void process.send?.({ id: -1, result: line }) });
machine.journal.tellHosts(() => [holder]);

async function answer(request: z.infer<typeof question>): Promise<unknown> {
  if (request.ask === 'push') return machine.journal.push(request.records, holder);
  if (request.ask === 'contents') return machine.contents();
  if (request.ask === 'take') return machine.journal.takeLease({ name: request.name, holder, ttlMs: request.ttlMs, present: [holder] });
  return machine.journal.examine();
}

process.on('message', (message) => {
  const request = question.parse(message);
  answer(request).then(
    (result) => process.send?.({ id: request.id, result }),
    (error: unknown) => process.send?.({ id: request.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0, result: null });
