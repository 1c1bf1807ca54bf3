import { RpcError } from '#shared/rpc/errors.ts';
import type { sessions } from '#shared/rpc/methods/sessions.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import type { Runs } from '../runs/runs.ts';
import { entryOf, historyOf, keyOf, sessionChanged } from '../sessions.ts';
import type { Vault } from '../vault.ts';

export const sessionMethods = ({ runs, vault, hub }: { runs: Runs; vault: Vault; hub: Hub }): Handlers<typeof sessions> => {
  const changed = (key: string, deleted = false): void => hub.emit(sessionChanged(key, deleted), key);
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

    'sessions.rename': async ({ path, title }) => {
      const key = keyOf(path);
      const record = await vault.sessions.update(key, { title });
      if (!record) throw new RpcError('NOT_FOUND', 'No such session');
      changed(key);
      return { session: entryOf(record, runs.running(key)) };
    },
  };
};
