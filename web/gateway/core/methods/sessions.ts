import { RpcError } from '#shared/rpc/errors.ts';
import type { SessionEntry } from '#shared/rpc/records.ts';
import type { sessions } from '#shared/rpc/methods/sessions.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import type { Runs } from '../runs/runs.ts';
import { entryOf, historyOf, keyOf, sessionChanged } from '../sessions.ts';
import type { Vault } from '../vault.ts';

export const sessionMethods = ({ runs, vault, hub }: { runs: Runs; vault: Vault; hub: Hub }): Handlers<typeof sessions> => {
  const changed = (key: string, deleted = false): void => hub.emit(sessionChanged(key, deleted), key);
  const edit = async (path: string, change: Parameters<Vault['sessions']['update']>[1]): Promise<{ session: SessionEntry }> => {
    const key = keyOf(path);
    const record = await vault.sessions.update(key, change);
    if (!record) throw new RpcError('NOT_FOUND', 'No such session');
    changed(key);
    return { session: entryOf(record, runs.running(key)) };
  };
  return {
    'sessions.list': async () => ({ sessions: (await vault.sessions.list()).map((record) => entryOf(record, runs.running(record.key))) }),

    'sessions.preview': async ({ path, limit }, { follow }) => {
      const key = keyOf(path);
      follow(key);
      if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', 'No such session');
      return { messages: historyOf((await vault.messages.branch(key, { limit })).messages).messages };
    },

    'sessions.delete': async ({ path }) => {
      const key = keyOf(path);
      // What is under way must not write into what is about to go.
      if (!(await runs.clear(key, () => vault.sessions.remove(key)))) throw new RpcError('NOT_FOUND', 'No such session');
      changed(key, true);
      return { deleted: true };
    },

    'sessions.reset': async ({ path }) => {
      const key = keyOf(path);
      if (!(await runs.clear(key, () => vault.sessions.clear(key)))) throw new RpcError('NOT_FOUND', 'No such session');
      changed(key);
      return { reset: true };
    },

    'sessions.rename': ({ path, title }) => edit(path, { title }),
    'sessions.pin': ({ path, pinned }) => edit(path, { pinned }),
    'sessions.archive': ({ path, archived }) => edit(path, { archived }),
    'sessions.move': ({ path, folder }) => edit(path, { folder }),
    'sessions.tag': ({ path, tags }) => edit(path, { tags: [...new Set(tags)] }),
  };
};
