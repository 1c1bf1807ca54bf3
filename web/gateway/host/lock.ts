import { z } from '#shared/rpc/zod.ts';

const message = z.object({ type: z.enum(['drain', 'draining']), from: z.string(), build: z.string() });
type Message = z.infer<typeof message>;

/** Time limits for an old worker to respond, and then to finish. */
const ANSWER_MS = 2_000;
const FINISH_MS = 30_000;

export interface OwnershipOptions {
  /** Name of the lock and of its channel. */
  name: string;
  build: string;
  /** Called when a newer build requests the lock: finish, close the database, then resolve; after that the lock is released. */
  ondrain(): Promise<void>;
  /** Called when waiting for an owner of the same build. */
  onwaiting?(): void;
  /** Called when the lock was stolen: nothing may be written any more. */
  onlost(): void;
}

export interface Ownership {
  release(): void;
}

/**
 * Acquires the lock that guards the gateway's data. An owner of another build is asked over a BroadcastChannel to drain: if it does not
 * respond within 2 s, or has not finished after 30 s, the lock is stolen. An owner of the same build (another tab, if there is no
 * SharedWorker) is waited for.
 */
export async function takeOwnership({ name, build, ondrain, onwaiting, onlost }: OwnershipOptions): Promise<Ownership> {
  const id = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  const post = (type: Message['type']): void => channel.postMessage({ type, from: id, build } satisfies Message);

  const held = Promise.withResolvers<Ownership>();
  let release = (): void => {};
  let owner = false;
  const hold = (): Promise<void> => {
    owner = true;
    return new Promise((resolve) => {
      release = () => {
        owner = false;
        channel.close();
        resolve();
      };
      held.resolve({ release });
    });
  };
  const request = (options: LockOptions): void => {
    navigator.locks.request(name, options, hold).catch((error: unknown) => {
      if (owner) {
        owner = false;
        channel.close();
        onlost();
      } else if (!(error instanceof DOMException && error.name === 'AbortError')) held.reject(error);
    });
  };

  const waiting = new AbortController();
  const steal = (): void => {
    if (owner) return;
    waiting.abort();
    request({ steal: true });
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let draining = false;
  channel.onmessage = ({ data }) => {
    const parsed = message.safeParse(data);
    if (!parsed.success || parsed.data.from === id) return;
    if (parsed.data.type === 'draining' && !owner) {
      clearTimeout(timer);
      if (parsed.data.build !== build) timer = setTimeout(steal, FINISH_MS);
      else onwaiting?.();
    } else if (parsed.data.type === 'drain' && owner && !draining) {
      // A worker of the same build only checks that another one is alive.
      post('draining');
      if (parsed.data.build === build) return;
      draining = true;
      void ondrain().finally(() => release());
    }
  };
  request({ signal: waiting.signal });
  if (!(await isFree(name, () => owner))) {
    post('drain');
    timer = setTimeout(steal, ANSWER_MS);
  }
  const ownership = await held.promise;
  clearTimeout(timer);
  return ownership;
}

/** Whether our own request has been granted by the time that the browser has answered a query. */
async function isFree(name: string, granted: () => boolean): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return granted() || !held.some((lock) => lock.name === name);
}

/** Holds a Web Lock for the worker's lifetime, so that waiters learn of its end. Resolves when the lock is held. */
export function holdForLife(name: string): Promise<void> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    });
  });
}
