// Runs in a worker of a real browser: the vault as in a host, without the gateway.
import { importSecret } from '../../../shared/link/credential-proof.ts';
import { systemClock } from '../../../shared/async/clock.ts';
import { SCHEMA_VERSION } from '../../../shared/link/hello.ts';
import { openVault, type IndexedDbVault } from '../../../web/gateway/storage/open-vault.ts';
import { Uplink } from '../../../web/gateway/host/uplink.ts';
import { Replicator } from '../../../web/gateway/sync/replicator.ts';

const SESSION_COUNT = 50;
const OPEN_MS = 120_000;
const TEXT = 'Words that somebody has written to somebody else, who reads them and writes back. '.repeat(4).slice(0, 300);

interface ChatHead {
  headId: string | null;
  depth: number;
}

/** One vault and its writes: the user's messages, in chats that alternate. */
class BenchVault {
  readonly vault: IndexedDbVault;
  readonly #chats: ChatHead[] = Array.from({ length: SESSION_COUNT }, () => ({ headId: null, depth: 0 }));
  #turn = 0;

  constructor(vault: IndexedDbVault) {
    this.vault = vault;
  }

  /** Stores a message with its run. Resolves when the write may be acknowledged. */
  async write(): Promise<void> {
    const index = this.#turn++ % SESSION_COUNT;
    const chat = this.#chats[index] ?? { headId: null, depth: 0 };
    const [id, now, key] = [crypto.randomUUID(), Date.now(), `main/bench-${index}`];
    const entry = { title: 'Bench', createdAt: now, pinned: false, archived: false, folder: null, tags: [] };
    const sums = { headId: null, updatedAt: now, messageCount: 0, size: 0, preview: '' };
    const { headId: parentId, depth } = chat;
    Object.assign(chat, { headId: id, depth: depth + 1 });
    await this.vault.runs.begin({
      session: { key, agentId: 'main', sessionId: `bench-${index}`, ...entry, ...sums },
      message: { id, sessionKey: key, parentId, depth, role: 'user', content: TEXT, timestamp: now },
      run: {
        id: crypto.randomUUID(),
        sessionKey: key,
        status: 'done',
        userMessageId: id,
        model: 'bench',
        startedAt: now,
        endedAt: now,
        partial: '',
      },
    });
  }
}

const report = (problem: unknown): void => postReply({ problem: String(problem) });
const vaults = new Map<string, BenchVault>();
const getVault = (name: string): BenchVault => {
  const found = vaults.get(name);
  if (!found) throw new Error(`no vault ${name} is open`);
  return found;
};

const api = {
  /** Opens a vault under a name. With a `credential` it syncs with the bridge's journal. Resolves once synced, with the milliseconds elapsed. */
  async open(name: string, uplink?: { url: string; id: string; secret: string }): Promise<number> {
    const since = performance.now();
    const vault = await openVault({ name, clock: systemClock, onclosed: () => {}, onfault: report });
    vaults.set(name, new BenchVault(vault));
    if (!uplink) return performance.now() - since;
    const { url, id, secret } = uplink;
    const replicator = new Replicator({ replica: vault.sync, clock: systemClock, schema: SCHEMA_VERSION, name, onfault: report });
    const synced = new Promise<void>((done) => replicator.watch(() => replicator.state().state === 'synced' && done()));
    const line = new Uplink({
      url,
      build: 'bench',
      onstream: (stream) => stream.reset(undefined, 'this host only measures'),
      onjournal: (journal) => replicator.attach(journal),
      onstate: (_, problem) => problem !== null && report(problem),
    });
    line.attach({ id, key: await importSecret(secret) });
    const late = new Promise<never>((_, fail) =>
      setTimeout(fail, OPEN_MS, new Error(`${name} is not in step: ${replicator.state().problem}`)),
    );
    await Promise.race([synced, late]);
    return performance.now() - since;
  },

  /** Measures the milliseconds of sequential writes. */
  async sequential(name: string, count: number): Promise<number[]> {
    const samples: number[] = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await getVault(name).write();
      samples.push(performance.now() - start);
    }
    return samples;
  },

  /** Measures the writes per second of callers that write again as soon as they are answered. */
  async rate(name: string, count: number, callers: number): Promise<number> {
    let left = count;
    const start = performance.now();
    const call = async (): Promise<void> => {
      while (left-- > 0) await getVault(name).write();
    };
    await Promise.all(Array.from({ length: callers }, call));
    return (count / (performance.now() - start)) * 1000;
  },

  /** Renames a chat. Resolves when the write may be acknowledged. */
  async rename(name: string, key: string, title: string): Promise<void> {
    if (!(await getVault(name).vault.sessions.update(key, { title }))) throw new Error(`there is no chat ${key}`);
  },

  /** Resolves when another host's change to a chat's entry is stored here. */
  changed(name: string, key: string): Promise<void> {
    return new Promise((resolve) => {
      const stop = getVault(name).vault.onRemoteChanges((changes) => {
        if (!changes.some((change) => change.store === 'sessions' && change.key === key)) return;
        stop();
        resolve();
      });
    });
  },
};
export type BenchApi = typeof api;

/** A call from the page, and its response. */
export interface BenchRequest {
  id: number;
  name: string;
  args: unknown[];
}
export type BenchReply = { id: number; value: unknown } | { id: number; error: string } | { problem: string };

let benchPort: MessagePort | undefined;
const postReply = (reply: BenchReply): void => benchPort?.postMessage(reply);

async function answerRequest({ id, name, args }: BenchRequest): Promise<void> {
  try {
    postReply({ id, value: await (api as unknown as Record<string, (...values: unknown[]) => unknown>)[name]?.(...args) });
  } catch (error) {
    postReply({ id, error: String(error) });
  }
}

addEventListener('connect', (event) => {
  benchPort = (event as MessageEvent).ports[0];
  benchPort?.addEventListener('message', ({ data }: MessageEvent<BenchRequest>) => void answerRequest(data));
  benchPort?.start();
});
