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
const one = await startMachine(createSettings(urls), { vaultKey, dir, log: (line) => void process.send?.({ id: -1, result: line }) });
one.journal.tellHosts(() => [holder]);

async function answer(said: z.infer<typeof question>): Promise<unknown> {
  if (said.ask === 'push') return one.journal.push(said.records, holder);
  if (said.ask === 'contents') return one.contents();
  if (said.ask === 'take') return one.journal.takeLease({ name: said.name, holder, ttlMs: said.ttlMs, present: [holder] });
  return one.journal.examine();
}

process.on('message', (message) => {
  const said = question.parse(message);
  answer(said).then(
    (result) => process.send?.({ id: said.id, result }),
    (error: unknown) => process.send?.({ id: said.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0, result: null });
