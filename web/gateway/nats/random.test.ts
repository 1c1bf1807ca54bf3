import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createVersion } from '../../../bridge/journal/fixture.ts';
import { startMachine, createSettings } from '../../../bridge/sync/tests/test-machine.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { toSessionKey } from '../storage/chat-records.ts';
import { newSession } from '../storage/fixture.ts';
import { createBrowser, waitUntilSame, type TestBrowser } from './tests/test-browser.ts';

const ROUNDS = process.env.PERCH_LONG ? 200 : 12;
const BROWSERS = 2;

const at = fc.nat(BROWSERS - 1);
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ at, session: fc.nat(3), kind: fc.constantFrom('rename', 'remove', 'remember') }) },
  { weight: 4, arbitrary: fc.record({ bridge: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ restart: at }) },
  { weight: 1, arbitrary: fc.constant({ restartBridge: true as const }) },
  { weight: 2, arbitrary: fc.constant({ server: true as const }) },
  { weight: 3, arbitrary: fc.record({ pause: fc.integer({ min: 1, max: 60 }) }) },
);

let writes = 0;
let wall = 0;

async function writeRecord({ vault }: TestBrowser, kind: string, number: number): Promise<void> {
  const key = toSessionKey('main', `s${number}`);
  const what = `${++writes}`;
  if (kind === 'remember') await vault.memories.add({ id: `m${number}`, text: what, category: 'fact', createdAt: 1 });
  else if (kind === 'remove') await vault.sessions.remove(key);
  else if (!(await vault.sessions.update(key, { title: what }))) await vault.sessions.add(newSession(key, { title: what }), []);
}

if (!hasNats) test.skip('vault.cluster/browser-converges: nats-server is not installed here', () => {});
describe.runIf(hasNats)('random writers at two browsers and one bridge', () => {
  verifies(
    'vault.cluster/browser-converges',
    'whatever is written, with browsers, the bridge and the server stopped in between: all are equal, and the newest of each is there',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 50 }), async (steps) => {
          await using nats = await createNatsServer();
          await using stack = new AsyncDisposableStack();
          const browsers = await Promise.all(Array.from({ length: BROWSERS }, async () => stack.use(await createBrowser(nats.webUrl))));
          const bridge = stack.use(await startMachine(createSettings(nats.url)));
          let isUp = true;
          for (const what of steps) {
            if ('pause' in what) await new Promise((resolve) => setTimeout(resolve, what.pause));
            else if ('restart' in what) await browsers[what.restart]?.restart();
            else if ('restartBridge' in what) await bridge.restart();
            else if ('bridge' in what) {
              const id = `m${what.bridge}`;
              const base = (await bridge.contents()).find(({ store, key }) => store === 'memories' && key === id)?.clock ?? null;
              const payload = JSON.stringify({ id, text: `${++writes}`, category: 'fact', createdAt: 1 });
              await bridge.journal.push(
                [createVersion(id, (wall = Math.max(wall + 1, Date.now())), 'bridge', { store: 'memories', base, payload })],
                'bridge',
              );
            } else if ('server' in what) {
              await (isUp ? nats.stop() : nats.start());
              isUp = !isUp;
            } else await writeRecord(browsers[what.at]!, what.kind, what.session);
          }
          if (!isUp) await nats.start();
          const newest = new Map<string, string>();
          for (const one of [...browsers, bridge])
            for (const { store, key, clock } of await one.contents()) {
              const id = `${store} ${key}`;
              if (clock > (newest.get(id) ?? '')) newest.set(id, clock);
            }
          await waitUntilSame([...browsers, bridge], (records) => {
            const found = new Set(records);
            return [...newest].every(([id, clock]) => found.has(`${id} ${clock}  `) || found.has(`${id} ${clock}  gone`));
          });
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
    },
    600_000,
  );
});
