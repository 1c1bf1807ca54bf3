import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../journal/fixture.ts';
import { natsServer, type TestNats } from './nats-server.ts';

/** A single NATS server whose machine may lose its power: what it acknowledged last is not on its disk by then. */
export interface ForgetfulNats extends AsyncDisposable, Pick<TestNats, 'url' | 'webUrl'> {
  /** What it has now is on its disk, what comes later is not. It is away meanwhile. */
  writeThrough(): Promise<void>;
  /** Its machine loses its power, and has it again. */
  loseRest(): Promise<void>;
}

export async function forgetfulNats(): Promise<ForgetfulNats> {
  await using made = new AsyncDisposableStack();
  const stores = made.use(temporaryFolder());
  const nats = made.use(await natsServer({ isStarted: false }));
  const storeAt = (name: string): string => join(stores.dir, name);
  const startWith = async (name: string): Promise<void> => {
    nats.configure({ jetstream: `store_dir: ${JSON.stringify(storeAt(name))}` });
    await nats.start();
  };
  await startWith('kept');
  const all = made.move();
  return {
    ...{ url: nats.url, webUrl: nats.webUrl },
    async writeThrough() {
      await nats.stop();
      cpSync(storeAt('kept'), storeAt('after'), { recursive: true });
      await startWith('kept');
    },
    async loseRest() {
      await nats.stop();
      await startWith('after');
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
