import { z } from '#shared/rpc/zod.ts';

const ownershipMessage = z.object({ type: z.enum(['drain', 'draining']), from: z.string(), build: z.string() });
type OwnershipMessage = z.infer<typeof ownershipMessage>;

/** Time limits for an old worker to respond, and then to finish. */
const RESPONSE_TIMEOUT_MS = 2_000;
const DRAIN_TIMEOUT_MS = 30_000;

interface OwnershipOptions {
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
export async function acquireOwnership({ name, build, ondrain, onwaiting, onlost }: OwnershipOptions): Promise<Ownership> {
  const id = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  const post = (type: OwnershipMessage['type']): void => channel.postMessage({ type, from: id, build } satisfies OwnershipMessage);

  const acquired = Promise.withResolvers<Ownership>();
  let release = (): void => {};
  let isOwner = false;
  const onGranted = (): Promise<void> => {
    isOwner = true;
    return new Promise((resolve) => {
      release = () => {
        isOwner = false;
        channel.close();
        resolve();
      };
      acquired.resolve({ release });
    });
  };
  const request = (options: LockOptions): void => {
    navigator.locks.request(name, options, onGranted).catch((error: unknown) => {
      if (isOwner) {
        isOwner = false;
        channel.close();
        onlost();
      } else if (!(error instanceof DOMException && error.name === 'AbortError')) acquired.reject(error);
    });
  };

  const abort = new AbortController();
  const steal = (): void => {
    if (isOwner) return;
    abort.abort();
    request({ steal: true });
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDraining = false;
  channel.onmessage = ({ data }) => {
    const parsed = ownershipMessage.safeParse(data);
    if (!parsed.success || parsed.data.from === id) return;
    if (parsed.data.type === 'draining' && !isOwner) {
      clearTimeout(timer);
      if (parsed.data.build !== build) timer = setTimeout(steal, DRAIN_TIMEOUT_MS);
      else onwaiting?.();
    } else if (parsed.data.type === 'drain' && isOwner && !isDraining) {
      // A worker of the same build only checks that another one is alive.
      post('draining');
      if (parsed.data.build === build) return;
      isDraining = true;
      void ondrain().finally(() => release());
    }
  };
  request({ signal: abort.signal });
  if (!(await isLockFree(name, () => isOwner))) {
    post('drain');
    timer = setTimeout(steal, RESPONSE_TIMEOUT_MS);
  }
  const ownership = await acquired.promise;
  clearTimeout(timer);
  return ownership;
}

/** Whether our own request has been granted by the time that the browser has answered a query. */
async function isLockFree(name: string, isGranted: () => boolean): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return isGranted() || !held.some((lock) => lock.name === name);
}

/** Holds a Web Lock for the worker's lifetime, so that waiters learn of its end. Resolves when the lock is held. */
export function holdLockForLife(name: string): Promise<void> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    });
  });
}
