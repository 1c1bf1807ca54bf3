import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../journal/fixture.ts';
import { createNatsServer, type TestNats } from './nats-server.ts';

/** A single NATS server that can lose its power: recently acknowledged messages are then not on disk. */
interface ForgetfulNats extends AsyncDisposable, Pick<TestNats, 'url' | 'webUrl'> {
  /** Saves the current state to disk; later changes are lost on a power cut. The server is down meanwhile. */
  writeThrough(): Promise<void>;
  /** Simulates a power cut and a restart. */
  loseUnsynced(): Promise<void>;
}

export async function startForgetfulNats(): Promise<ForgetfulNats> {
  await using stack = new AsyncDisposableStack();
  const stores = stack.use(temporaryFolder());
  const nats = stack.use(await createNatsServer({ isStarted: false }));
  const storeAt = (name: string): string => join(stores.dir, name);
  const startWith = async (name: string): Promise<void> => {
    nats.configure({ jetstream: `store_dir: ${JSON.stringify(storeAt(name))}` });
    await nats.start();
  };
  await startWith('kept');
  const all = stack.move();
  return {
    ...{ url: nats.url, webUrl: nats.webUrl },
    async writeThrough() {
      await nats.stop();
      cpSync(storeAt('kept'), storeAt('after'), { recursive: true });
      await startWith('kept');
    },
    async loseUnsynced() {
      await nats.stop();
      await startWith('after');
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
